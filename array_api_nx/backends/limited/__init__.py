"""Devices for tests: such as lack something on purpose, and one without elements.

The CPU backend computes for them. `devices` has their names, `limits` what each property forbids,
`elementless` the device ``meta`` and `lazy` elements that are computed when somebody asks.
"""
