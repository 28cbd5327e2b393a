"""Graphs of PyTorch's operations as functions that Inductor compiles."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Sequence
from typing import Final, TypeAlias, cast

import torch
from torch.fx import GraphModule, Node
from torch.multiprocessing.reductions import StorageWeakRef

from ...contract.arguments import Native
from .compiled_programs import ArrayFunction
from .torch_kernels import from_bits, to_bits

Settings: TypeAlias = "dict[str, int | bool]"

_SETTINGS: Final[Settings] = {
    # Numbers nearer to zero than the smallest normal one would be zeros on GPUs.
    "eager_numerics.disable_ftz": True,
    # The results of a CUDA graph lie in memory that its next run writes to, also where the
    # process has asked for such graphs.
    "triton.cudagraphs": False,
    # It takes x * 0 for 0 and x + 0 for x, which NaN, infinities and -0.0 are not:
    # https://github.com/pytorch/pytorch/pull/186281
    # https://github.com/pytorch/pytorch/issues/189799
    "joint_graph_constant_folding": False,
}


def copied(array: Native) -> Native:
    """A copy that Inductor makes, while it drops each `clone`."""
    return from_bits(torch.flip(to_bits(array), ()), array.dtype)


_WRITES: Final = (torch.ops.aten.as_strided_scatter.default, torch.ops.aten.index_put.default)


def _copy_what_is_read(graph: GraphModule) -> None:
    """Copy the memory that a write changes, if anything else reads it.

    The graph has functions in place of writes. Inductor makes them writes again, and joins them in
    loops with readers of the memory at other places: https://github.com/pytorch/pytorch/issues/197829
    """
    alike: defaultdict[StorageWeakRef, list[Node]] = defaultdict(list)
    for node in graph.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor):
            alike[StorageWeakRef(value.untyped_storage())].append(node)
    for views in alike.values():
        readers = {user for view in views for user in view.users}.difference(views)
        for node in [reader for reader in readers if reader.target in _WRITES]:
            memory, *rest = node.args
            given = {view for view in node.all_input_nodes if view in views}
            if memory in given and (len(readers) > 1 or len(given) > 1):
                with graph.graph.inserting_before(node):
                    copy = graph.graph.call_function(torch.ops.aten.flip.default, (memory, []))
                node.args = (copy, *rest)
    graph.recompile()


def compile_graph(
    graph: GraphModule,
    open_sizes: list[Native],
    examples: list[Native],
    settings: Settings,
) -> ArrayFunction:
    """A function from values for the open sizes, and arrays, to arrays."""
    from torch._dynamo import lookup_backend  # which takes long to import
    from torch._inductor import config

    there = config.get_config_copy()
    settings = {**settings, **{name: x for name, x in _SETTINGS.items() if name in there}}
    _copy_what_is_read(graph)
    with warnings.catch_warnings():
        # It advises less exact products of float32.
        warnings.filterwarnings("ignore", "TensorFloat32")
        # The graph is complete, and needs no checks by TorchDynamo at each call
        # (docs/tuning.md, 42).
        compiled = lookup_backend("inductor")(
            graph, [*open_sizes, *examples], config_patches=settings
        )
    with_gradients = torch.compile(graph.forward, dynamic=bool(open_sizes), options=settings)
    first = len(open_sizes)

    def call(*arguments: Native) -> Sequence[Native]:
        for array in arguments[first:]:
            if array.requires_grad and torch.is_grad_enabled():
                return cast("Sequence[Native]", with_gradients(*arguments))
        return cast("Sequence[Native]", compiled(*arguments))

    return call
