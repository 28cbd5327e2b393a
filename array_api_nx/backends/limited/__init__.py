"""Devices for tests: such as lack something on purpose, and one without elements.

The CPU backend computes for them. `devices` has their names, `limits` the meaning of each
property, `elementless` the device ``meta``, and `lazy` elements that are computed on demand.
"""
