"""The extension module; what its types and functions do is told in native/."""

from collections.abc import Callable as _Callable
from collections.abc import Sequence as _Sequence
from contextvars import Context as _Context
from types import ModuleType as _ModuleType
from typing import Any, Self, TypeAlias, final, type_check_only

import numpy as np
from typing_extensions import disjoint_base as _disjoint_base

_NDArray: TypeAlias = np.ndarray[Any, Any]
_DType: TypeAlias = np.dtype[Any]

@type_check_only
class Native(_ModuleType):
    """The module as a type, for those that load it and may get None."""

    VERSION: str
    DTYPES: str  # the codes of native/basics/dtypes.h, with spaces between them
    SOURCES: str
    PROCESSOR: str  # "baseline", "avx2" or "avx512": what hot functions use

    @final
    class ContextCaller:
        def __new__(
            cls,
            prepare: _Callable[[], tuple[_Context, list[Any]]],
            settle: _Callable[[list[Any]], None],
            /,
        ) -> Self: ...
        def __call__(
            self, function: _Callable[..., Any], /, *args: Any, **keywords: Any
        ) -> Any: ...

    @final
    class CallGroup:
        def __new__(cls, calls: Native.CallList, /) -> Self: ...
        def __call__(self, *arrays: Any) -> Any: ...

    @final
    class CallList:
        def __new__(
            cls,
            slots: int,
            given: int,
            constants: tuple[Any, ...],
            sized: int,
            calls: tuple[tuple[Any, ...], ...],  # what each consists of, the docstring says
            result: Any,
            /,
        ) -> Self: ...
        def at(
            self,
            expected: tuple[tuple[tuple[int, ...], _DType], ...],
            sized: tuple[Any, ...],
            written: tuple[int, ...],
            saves: bool,
            /,
        ) -> Self: ...

    @_disjoint_base
    class ProgramCaller:
        _program: Any
        def _keep_program(self, program: Any, places: tuple[int, ...], /) -> None: ...
        def _run_program(self, program: Any, arrays: _Sequence[Any], /) -> Any: ...
        _calls: int

    # As contract.strided and frontend.array have them.
    Storage: type
    Tensor: type
    Array: type
    Face: type
    ARRAY_METHODS: tuple[str, ...]

    def complete_array(self, methods: dict[str, Any], /) -> None: ...
    def complete_face(
        self,
        type: type,
        methods: dict[str, Any],
        convert: _Callable[[Any], Any],
        assign: _Callable[[Any, str, Any], None],
        /,
    ) -> None: ...
    def standard(self, array: Any, /) -> Any: ...
    def adopt(self, array: Any, /) -> Any: ...
    def front_face(
        self,
        function: _Callable[..., Any],
        numpys: _Callable[..., Any] | None,
        direct: _Callable[..., Any] | None,
        name: str,
        parameters: str,
        defaults: dict[str, Any],
        lists: tuple[int, int],
        takes_out: bool,
        gives_scalars: bool,
        most: int,
        refused: tuple[Any, ...],
        /,
    ) -> Any: ...
    def count_numpys(self, more: int, /) -> int: ...
    def numpys(self, object: Any, /) -> Any: ...
    def set_as_faces(self, function: _Callable[[Any], Any], /) -> None: ...
    def front(self, function: _Callable[..., Any], /) -> Any: ...  # it has the function's signature
    def guard(self, function: _Callable[..., Any], /) -> Any: ...  # this one, too
    def offer_exchange(
        self,
        export_: _Callable[[Any], object],
        adopt: _Callable[[object, int, int], object],
        allocate: _Callable[[tuple[int, ...], tuple[int, int, int], int, int], object],
        /,
    ) -> None: ...
    def relabel(self, capsule: object, code: int, /) -> tuple[int, int]: ...
    def set_advice(
        self,
        advise: _Callable[
            [_Callable[..., Any], tuple[Any, ...], tuple[str, ...] | None, TypeError], TypeError
        ],
        /,
    ) -> None: ...
    def set_cpu(self, device: object, committed: object, backend: object, /) -> None: ...
    def set_distinct(self, UniqueAll: type, UniqueCounts: type, UniqueInverse: type, /) -> None: ...
    def set_dtypes(self, dtypes: tuple[_DType, ...], promotions: bytes, /) -> None: ...
    def set_errors(self, apply: _Callable[[str, int], None], /) -> None: ...
    def set_hints(self, hints: object, /) -> None: ...
    def set_limits(self, at_once: int, large: int, recorded: int, tracked: int, /) -> None: ...
    def set_expressions(
        self,
        modes: _Callable[[object], int | None],
        numpys: object,
        ignoring: object,
        own: object,
        report: _Callable[[list[tuple[str, int, int]]], None],
        cast: object,
        where: object,
        /,
    ) -> None: ...
    def set_reductions(self, rows: tuple[object, ...], /) -> None: ...
    def call_on_tensors(self, name: str, /, *values: Any) -> Any: ...
    def set_observer(self, observe: _Callable[[str], None], /) -> None: ...
    def describe_pending(
        self, storage: object, /
    ) -> list[tuple[Any, tuple[Any, ...], bool, Any]] | None: ...
    def count_pending(self) -> int: ...
    def release_readers(self, storage: object, /) -> None: ...
    def set_operations(
        self,
        ask: _Callable[
            [Any, Any], tuple[np.ufunc, int, str, int, int, int, int, bool, bool] | None
        ],
        /,
    ) -> None: ...
    def set_primitives(self, unary: list[Any], binary: list[Any], /) -> None: ...
    def set_recorded(self, recorded: bool, /) -> None: ...
    def set_recorder(self, record: _Callable[..., Any] | None, /) -> None: ...
    def set_watched(self, watched: bool, /) -> None: ...
    def set_ufuncs(
        self,
        ask: _Callable[[np.ufunc, Any], tuple[Any, ...] | None],
        operators: dict[np.ufunc, Any],
        /,
    ) -> None: ...
    def set_versions(self, versions: tuple[str, ...], /) -> None: ...
    def set_thread_count(self, count: _Callable[[], int], keeps: bool, /) -> None: ...
    def set_views(self, View: type, make: _Callable[..., object], /) -> None: ...

    matmul: np.ufunc
    MOST_INVERTED_ROWS: int

    def invert(self, matrices: _NDArray, inverses: _NDArray, /) -> bool: ...
    def computes_product(self, dtype: _DType, rows: int, inner: int, columns: int, /) -> bool: ...
    def draw(
        self,
        drawing: _NDArray,
        first: int,
        array: _NDArray,
        p: _NDArray | None = None,
        q: _NDArray | None = None,
        /,
    ) -> None: ...
    def drawing(
        self,
        kind: str,
        dtype: _DType,
        key0: int,
        key1: int,
        base: int,
        low: int,
        span: int,
        p: float = 0.0,
        q: float = 0.0,
        /,
    ) -> _NDArray: ...
    def arg_extremes(
        self, array: _NDArray, axis: int, greatest: bool, places: _NDArray, /
    ) -> bool: ...
    def sort_rows(self, vector: _NDArray, length: int, out: _NDArray, /) -> None: ...
    def part_rows(
        self, vector: _NDArray, length: int, places: _NDArray, out: _NDArray, /
    ) -> None: ...
    def order_rows(self, vector: _NDArray, length: int, out: _NDArray, /) -> None: ...
    def number_runs(
        self,
        vector: _NDArray,
        order: _NDArray | None,
        starts: _NDArray,
        inverse: _NDArray | None,
        /,
    ) -> int: ...
    def find_places(
        self, array: _NDArray, values: _NDArray, right: bool, places: _NDArray, /
    ) -> None: ...
    def compress(self, vector: _NDArray, mask: _NDArray, out: _NDArray, /) -> None: ...
    COUNT_TABLES: int
    def count_values(self, vector: _NDArray, least: int, counts: _NDArray, /) -> bool: ...
    def look_up(self, vector: _NDArray, least: int, table: _NDArray, out: _NDArray, /) -> bool: ...
    def assign_where(self, vector: _NDArray, mask: _NDArray, value: _NDArray, /) -> None: ...
    def forget_threads(self) -> None: ...
    def parallel_for(self, task: _Callable[[int], object], count: int, threads: int, /) -> None: ...
    def retire_workers(self) -> None: ...
    def set_worth_waking(self, nanoseconds: int, /) -> None: ...
    def may_share_memory(self, x: _NDArray, y: _NDArray, /) -> bool: ...
    def empty(self, shape: int | _Sequence[int], dtype: _DType, /) -> _NDArray: ...
    def limit_spares(self, bytes: int, /) -> None: ...
    def release_spares(self) -> None: ...
    def count_spares(self) -> tuple[int, int, int, int, int]: ...
