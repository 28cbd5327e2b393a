"""Engines behind the namespace: devices of results, shared memory, and errors."""

import pickle
import warnings

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.engines.devices import ENGINES
from tests.backends.engines.devices import NAMES
from tests.backends.engines.devices import device as find
from tests.support.processes import python
from tests.support.refusals import refused
from tests.support.tables import for_each

CPU = xp.Device("cpu")


@pytest.mark.parametrize("target", ["cpu", *NAMES])
@pytest.mark.parametrize("source", ["cpu", *NAMES])
def test_to_device_between_any_two(source, target):
    here, there = [CPU if name == "cpu" else find(name) for name in (source, target)]
    for dtype in (xp.float32, xp.int64, xp.bool, xp.uint16, xp.complex128):
        x = xp.asarray([[0, 1, 2], [3, 0, 5]], dtype=dtype, device=here)
        for view in (x, x.T, x[::-1, ::2], x[:0], x[1, 1]):
            moved = view.to_device(there)
            assert moved.device == there
            assert moved.dtype is dtype
            assert moved.shape == view.shape
            expected = np.asarray(view.to_device("cpu"))
            np.testing.assert_array_equal(np.asarray(moved.to_device("cpu")), expected)


def test_the_cpu_and_pytorch_on_the_cpu_share_memory():
    device = find("torch:cpu")
    x = xp.zeros((2, 3))
    there = x.to_device(device)
    back = there.to_device("cpu")
    there[0, 0] = 1.0
    back[1, 2] = 2.0
    for each in (x, there, back):
        assert np.asarray(each).tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]


@pytest.mark.parametrize("name", NAMES)
def test_views_of_broadcast_views_are_read_only(name):
    device = find(name)
    x = xp.arange(4.0, device=device)
    rows = xp.broadcast_to(x, (3, 4))
    views = [rows[0], rows[1:2, ::-1], xp.reshape(rows[:1], (2, 2)), rows.T[:, 1], rows[2, 3]]
    if not name.startswith("jax"):
        # There the bytes read as another dtype are a copy.
        views += [rows[0].view(xp.int64), rows[0].view(xp.float32)[1:]]

    def traced(x):
        return xp.broadcast_to(x, (3, *x.shape))[1]

    views += [xp.compile(traced)(x), xp.broadcast_to(x[:2] + 1.0, (3, 2))[0]]
    for view in views:
        with pytest.raises(ValueError, match="view of an array with repeated elements"):
            view[...] = 7
        with pytest.raises(ValueError, match="view of an array with repeated elements"):
            view += 1
        if name.endswith(":cpu"):
            assert not np.asarray(view).flags.writeable
        moved = view.to_device("cpu")
        moved[...] = 7
        copied = xp.asarray(view, copy=True)
        copied[...] = 7
    assert np.asarray(x.to_device("cpu")).tolist() == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(0,), (0, 5), (5, 0), (3, 0, 2)])
def test_empty_arrays_can_be_written(name, shape):
    device = find(name)
    for given in (np.empty(shape), np.empty(shape).T):
        for x in (xp.asarray(given, device=device), xp.asarray(given).to_device(device)):
            x[...] = 1.0
            x += 1.0
            assert x.shape == given.shape


def test_pytorch_exports_read_only_memory_as_such():
    device = find("torch:cpu")
    x = xp.arange(4.0, device=device)
    array = np.arange(4.0)
    array.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, about memory that it cannot protect
        given = xp.asarray(array, device=device)
    for y in (given, given[1:], xp.broadcast_to(x, (3, 4)), xp.broadcast_to(x, (3, 4))[0]):
        for copy in (None, False):
            assert not np.from_dlpack(y, copy=copy).flags.writeable
        assert np.from_dlpack(y, copy=True).flags.writeable
        refused(BufferError, "readonly", y.__dlpack__)
    assert np.from_dlpack(x).flags.writeable


@pytest.mark.parametrize("name", NAMES)
def test_read_only_memory_read_as_another_dtype_is_read_only(name):
    device = find(name)
    if name.startswith("jax"):
        pytest.skip("JAX copies bytes that are read as another dtype")
    array = np.arange(4.0)
    array.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, about memory that it cannot protect
        x = xp.asarray(array, device=device).view(xp.int64)
    with pytest.raises(ValueError, match="handed in as read-only"):
        x[0] = 1
    assert array.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_nobody_else_sees_what_jax_counts_on_not_to_change():
    device = find("jax:cpu")
    x = np.zeros(3)
    there = xp.asarray(x, device=device)
    x[0] = 1.0
    assert np.asarray(there).tolist() == [0.0, 0.0, 0.0]
    native = there._device.backend.native(there._handle)
    there[1] = 2.0
    assert np.asarray(native).tolist() == [0.0, 0.0, 0.0]


def test_views_show_what_is_written(device):
    x = xp.reshape(xp.arange(12, device=device), (3, 4))
    views = [x.T, x[::-1], x[:, ::-2], xp.reshape(x, (12,)), x[None, 1:, 2:3]]
    expected = np.arange(12).reshape(3, 4)
    shown = [expected.T, expected[::-1], expected[:, ::-2], expected.reshape(12)]
    shown.append(expected[None, 1:, 2:3])
    for i, (view, like) in enumerate(zip(views, shown, strict=True)):
        view[..., -1] = 100 + i
        like[..., -1] = 100 + i
        for other, right in zip([x, *views], [expected, *shown], strict=True):
            np.testing.assert_array_equal(np.asarray(other.to_device("cpu")), right)


def test_copies_show_nothing(device):
    x = xp.zeros(3, device=device)
    copies = [xp.asarray(x, copy=True), x + 0, xp.concat([x]), xp.astype(x, xp.float64)]
    x[...] = 1.0
    for each in copies:
        assert not bool(xp.any(each))


def test_pickles_go_back_to_their_device(device):
    x = xp.asarray([1.0, 2.0], device=device)
    back = pickle.loads(pickle.dumps(x))
    assert back.device == device
    assert bool(xp.all(back == x))
    assert f"device={device.name!r}" in repr(x)


def test_tensors_come_in_and_go_out_without_a_copy():
    find("torch:cpu")
    import torch

    tensor = torch.arange(6.0).reshape(2, 3)
    for x in (xp.asarray(tensor), xp.asarray(tensor.T).T):
        assert str(x.device) == "torch:cpu"
        x[0, 0] += 10.0
        assert torch.from_dlpack(x).data_ptr() == tensor.data_ptr()
        assert np.asarray(x).__array_interface__["data"][0] == tensor.data_ptr()
    assert tensor[0, 0] == 20.0
    assert xp.asarray(tensor, copy=True)._handle.array.data_ptr() != tensor.data_ptr()
    assert xp.asarray(tensor, device="cpu").device == CPU
    assert xp.asarray(tensor, dtype=xp.float64).dtype is xp.float64
    assert xp.from_dlpack(tensor).device == CPU
    assert str(xp.from_dlpack(tensor, device="torch:cpu").device) == "torch:cpu"


ENGINES_OF_THE_HOST = ("torch:cpu", "jax:cpu", "dask")
TAKES_A_COPY = r"(NumPy|without a copy); use copy=None"


def native(name):
    """An array of an engine, of its own making."""
    device = find(name)
    if name == "dask":
        from dask import array

        return array.arange(4)
    x = xp.arange(4, device=device)
    return device.backend.native(x._handle)


@pytest.mark.parametrize("target", ["cpu", *ENGINES_OF_THE_HOST])
def test_without_a_copy_memory_is_shared_or_it_is_an_error(target):
    there = CPU if target == "cpu" else find(target)
    shares = target in ("cpu", "torch:cpu")
    writable = np.arange(4)
    frozen = np.arange(4)
    frozen.flags.writeable = False
    for x in (writable, writable[::-1], frozen, np.zeros((0, 2)), memoryview(writable)):
        functions = [xp.asarray] if type(x) is memoryview else [xp.asarray, xp.from_dlpack]
        for function in functions:
            if not shares:
                refused(ValueError, TAKES_A_COPY, function, x, device=there, copy=False)
                continue
            y = function(x, device=there, copy=False)
            assert y.size == 0 or np.shares_memory(np.asarray(y), np.asarray(x))
    for x in (1.0, np.float64(1.0), [1.0, 2.0], (1, 2), range(3)):
        with pytest.raises(ValueError, match="no memory to share; use copy=None"):
            xp.asarray(x, device=there, copy=False)
    for kind in (">i8", "<f4"):
        with pytest.raises(ValueError, match="copy=None"):
            xp.asarray(writable.astype(kind), dtype=xp.int64, device=there, copy=False)


@pytest.mark.parametrize("target", ["cpu", *ENGINES_OF_THE_HOST])
@pytest.mark.parametrize("source", ["cpu", *ENGINES_OF_THE_HOST])
def test_devices_share_memory_or_it_is_an_error(source, target):
    here, there = [CPU if name == "cpu" else find(name) for name in (source, target)]
    x = xp.arange(6, device=here)
    for function in (xp.asarray, xp.from_dlpack):
        if source != target and not {source, target} <= {"cpu", "torch:cpu"}:
            refused(ValueError, TAKES_A_COPY, function, x, device=there, copy=False)
            continue
        for shown in (x, x[::-1], x[:0]):
            y = function(shown, device=there, copy=False)
            assert y.device == there
            y[...] = 5
        assert bool(xp.all(x == 5))
        x[...] = 0
    with pytest.raises(ValueError, match="int64 to float64 without a copy; use copy=None"):
        xp.asarray(x, dtype=xp.float64, device=there, copy=False)


@pytest.mark.parametrize("target", ["cpu", *ENGINES_OF_THE_HOST])
@pytest.mark.parametrize("source", ENGINES_OF_THE_HOST)
def test_native_arrays_come_in_without_a_copy_or_not_at_all(source, target):
    there = CPU if target == "cpu" else find(target)
    x = native(source)
    assert xp.asarray(x, copy=False).device.name == source
    if source == target or (source, target) == ("torch:cpu", "cpu"):
        assert xp.asarray(x, device=there, copy=False).device == there
    else:
        refused(ValueError, TAKES_A_COPY, xp.asarray, x, device=there, copy=False)
    if source == "dask":
        return
    # By DLPack the memory of a JAX array can be had, for reading.
    if source == target or target in ("cpu", "torch:cpu"):
        y = xp.from_dlpack(x, device=there, copy=False)
        assert np.may_share_memory(np.from_dlpack(y), np.from_dlpack(x))
    else:
        refused(ValueError, TAKES_A_COPY, xp.from_dlpack, x, device=there, copy=False)


@pytest.mark.parametrize("name", ENGINES_OF_THE_HOST)
def test_arrays_go_out_without_a_copy_or_not_at_all(name):
    x = xp.arange(4, device=find(name))
    if name == "torch:cpu":
        assert np.shares_memory(np.asarray(x, copy=False), np.from_dlpack(x, copy=False))
        assert np.shares_memory(np.asarray(x[::-1], copy=False), np.asarray(x))
        # PyTorch's tensors cannot run backwards.
        refused(BufferError, "without a copy; export a copy", np.from_dlpack, x[::-1], copy=False)
    else:
        refused(ValueError, TAKES_A_COPY, np.asarray, x, copy=False)
        # Computed elements, and those that never change, can be read there.
        assert np.from_dlpack(x, copy=False).tolist() == [0, 1, 2, 3]
    for y in (np.asarray(x[::-1]), np.from_dlpack(x[::-1]), np.asarray(x[::-1], copy=True)):
        assert y.tolist() == [3, 2, 1, 0]


def test_dlpack_of_dtypes_that_the_standard_lacks():
    device = find("torch:cpu")
    import torch

    for target in (CPU, device):
        with pytest.raises(BufferError, match=r"no dtype for .*float8_e5m2"):
            xp.from_dlpack(torch.zeros(2, dtype=torch.float8_e5m2), device=target)


def test_tensors_of_every_layout():
    find("torch:cpu")
    import torch

    tensor = torch.arange(24.0).reshape(2, 3, 4)
    conjugate = torch.complex(tensor, -tensor).conj()
    for each in (
        tensor.permute(2, 0, 1),
        tensor[:, 1:, ::2],
        tensor[:, :0],
        tensor.expand(2, 2, 3, 4),
        torch.tensor(3.0),
        conjugate,
        conjugate.imag,
    ):
        x = xp.asarray(each)
        expected = each.resolve_conj().resolve_neg().numpy()
        np.testing.assert_array_equal(np.asarray(x), expected)
        np.testing.assert_array_equal(np.asarray(xp.flip(x) * 2), np.flip(expected) * 2)


def test_tensors_without_a_dtype_of_the_standard_are_refused():
    find("torch:cpu")
    import torch

    with pytest.raises(TypeError, match=r"no dtype for PyTorch's torch.float8_e5m2; convert"):
        xp.asarray(torch.zeros(2, dtype=torch.float8_e5m2))
    refused(TypeError, r"no strides; use .to_dense", xp.asarray, torch.eye(2).to_sparse())


def test_gradients_pass_through():
    find("torch:cpu")
    import torch

    tensor = torch.linspace(0.5, 2.0, 6, requires_grad=True)
    x = xp.reshape(xp.asarray(tensor), (2, 3))
    total = xp.sum(xp.sin(x.T[::-1]) * x[0, 1:2] + xp.mean(x) / xp.linalg.vector_norm(x))
    total._device.backend.native(total._handle).backward()
    again = tensor.detach().clone().requires_grad_()
    y = again.reshape(2, 3)
    (torch.sin(y.T.flip(0)) * y[0, 1:2] + y.mean() / torch.linalg.vector_norm(y)).sum().backward()
    torch.testing.assert_close(tensor.grad, again.grad)
    assert "0.5" in repr(x)


def test_jax_arrays_come_in_and_go_out():
    find("jax:cpu")
    import jax
    import jax.numpy as jnp

    array = jnp.arange(4.0)
    x = xp.asarray(array)
    assert (str(x.device), x.dtype) == ("jax:cpu", xp.float32)
    x[1:3] *= 2
    assert array.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert jnp.from_dlpack(x).tolist() == [0.0, 2.0, 4.0, 3.0]
    with warnings.catch_warnings(action="ignore"):
        assert not jax.config.jax_enable_x64
    assert xp.ones(2, device="jax:cpu").dtype is xp.float64


def test_new_arrays_go_to_the_default_device(torch_default):
    made = [
        xp.zeros(2), xp.ones(2), xp.empty(2), xp.full(2, 3.0), xp.arange(3), xp.linspace(0, 1, 3),
        xp.eye(2), xp.asarray([1, 2]), xp.asarray(1.5), xp.asarray(np.ones(2)), xp.fft.fftfreq(4),
        xp.sin(np.float64(1.0)), xp.from_dlpack(np.ones(2)),
    ]  # fmt: skip
    assert {x.device for x in made} == {torch_default}
    assert xp.zeros(2, device="cpu").device == CPU
    assert xp.zeros_like(xp.zeros(2, device="cpu")).device == CPU
    assert "device" not in repr(made[0])


def test_operands_on_two_devices(device):
    x, y = xp.ones(2, device="cpu"), xp.ones(2, device=device)
    refused(ValueError, f"cpu and {device}; move them with to_device", lambda: x + y)


def test_shapes_that_do_not_broadcast(device):
    x, y = xp.ones((2, 3), device=device), xp.ones(2, device=device)
    for wrong in (lambda: x + y, lambda: xp.where(x > 0, x, y), lambda: xp.maximum(x, y)):
        refused(ValueError, "broadcast", wrong)


def test_indices_out_of_range_are_errors(device):
    x = xp.zeros(3, device=device)
    for index in ([0, 3], [-4]):
        positions = xp.asarray(index, device=device)
        refused(IndexError, "out of range", x.__getitem__, positions)
        with pytest.raises(IndexError, match="out of range"):
            x[positions] = 1.0
    assert not bool(xp.any(x))


def test_integers_are_divided_by_zero_without_harm(device):
    for dtype in (xp.int32, xp.int64, xp.uint8, xp.uint64):
        x = xp.asarray([xp.iinfo(dtype).min, 7], dtype=dtype, device=device)
        zeros = xp.zeros_like(x)
        for quotient in (x // zeros, x % zeros, x // 0, x % 0):
            assert quotient.dtype is dtype
    x = xp.asarray([xp.iinfo(xp.int64).min], device=device)
    assert int((x // -1)[0]) == xp.iinfo(xp.int64).min
    assert int((x % -1)[0]) == 0


def test_negative_powers_of_integers(device):
    x = xp.asarray([1, 2], device=device)
    refused(ValueError, "negative integer powers", lambda: x ** xp.asarray([2, -1], device=device))
    assert np.asarray(x.to_device("cpu")).tolist() == [1, 2]


def test_singular_matrices(device):
    x = xp.zeros((2, 2), device=device)
    refused(np.linalg.LinAlgError, None, xp.linalg.inv, x)
    refused(np.linalg.LinAlgError, None, xp.linalg.cholesky, -xp.eye(2, device=device))


def test_out_of_memory(device):
    x = xp.ones(3, device=device)
    refused(MemoryError, f"device {device} has not enough memory", xp.empty, 1 << 55, device=device)
    assert float(xp.sum(x)) == 3.0


def test_a_device_that_fails_is_named():
    backend = find("torch:cpu").backend
    backend.evaluate()
    backend = find("torch:cpu").backend
    while hasattr(backend, "inner"):
        backend = backend.inner
    lost = backend.explained(RuntimeError("CUDA error: device lost\nmore"))
    assert isinstance(lost, RuntimeError)
    text = str(lost)
    assert text.startswith("device torch:cpu failed: CUDA error: device lost; it may need a new")
    refused = backend.explained(NotImplementedError('"sum" not implemented for X'))
    assert isinstance(refused, TypeError)


@pytest.mark.parametrize("name", ["torch:cuda:99", "torch:mps", "jax:cuda:99"])
def test_devices_that_this_machine_lacks(name):
    find(f"{name.partition(':')[0]}:cpu")
    with pytest.raises(RuntimeError, match=f"device '{name}' does not work: .*lists what there is"):
        xp.zeros(2, device=name)


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("torch", "torch:cpu"),
        ("torch:cuda", "torch:cuda:0"),
        ("jax", "jax:cpu"),
        ("cupy", "cupy:0"),
    ],
)
def test_short_names(alias, name):
    family = {family.name: family for family in ENGINES}[alias.partition(":")[0]]
    assert f"{family.name}:{family.resolve(alias.partition(':')[2])}" == name


def test_devices_are_listed_without_importing_their_engines():
    find("torch:cpu")
    code = (
        "import array_api_nx as xp, sys\n"
        "print(*xp.__array_namespace_info__().devices())\n"
        "print(sorted({'torch', 'jax', 'cupy', 'dask'} & set(sys.modules)))\n"
        "xp.show_config('dict')\n"
        "print(sorted({'torch', 'jax', 'cupy', 'dask'} & set(sys.modules)))\n"
    )
    listed, *loaded = python("-c", code).splitlines()
    assert listed.startswith("cpu torch:cpu")
    assert loaded == ["[]", "[]"]


def test_inspection_of_an_engine(device):
    info = xp.__array_namespace_info__()
    assert device in info.devices() or device.name not in ("torch:cpu", "jax:cpu")
    assert info.dtypes(device=device) == info.dtypes()
    assert info.default_dtypes(device=device)["real floating"] is xp.float64


def test_arrays_without_double_precision():
    find("torch:cpu")
    device = xp.Device("torch:mps")
    assert (device.real, device.complex) == (xp.float32, xp.complex64)
    defaults = xp.__array_namespace_info__().default_dtypes(device=device)
    assert defaults["real floating"] is xp.float32


def test_dtypes_that_a_device_lacks():
    find("torch:cpu")
    from array_api_nx.backends.engines.adapter import Dtypes
    from array_api_nx.backends.engines.torch import TorchBackend

    backend = TorchBackend("torch:cpu", "cpu")
    backend.dtypes = Dtypes("torch:mps", {xp.float32: backend.dtypes[xp.float32]})
    assert backend.available_dtypes() == (xp.float32,)
    x = backend.from_host(np.ones(2, np.float32), copy=True)
    for attempt in (
        lambda: backend.full((2,), xp.float64, 1.0),
        lambda: backend.from_host(np.ones(2), copy=True),
        lambda: backend.cast(x, xp.float64),
    ):
        refused(TypeError, r"torch:mps has no float64; .*astype\(..., float32\)", attempt)


def test_products_of_integers_without_a_kernel():
    find("torch:cpu")
    import torch

    from array_api_nx.backends.engines.torch_kernels import integer_product

    shapes = [((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,))]
    shapes += [((5, 1, 2, 3), (4, 3, 2)), ((2, 0), (0, 3))]
    for shape, other in shapes:
        x1 = torch.randint(-100, 100, shape, dtype=torch.int8)
        x2 = torch.randint(-100, 100, other, dtype=torch.int8)
        assert torch.equal(integer_product(x1, x2), torch.matmul(x1, x2))


LARGE = 2**64 - 17


@for_each(
    "function",
    [
        lambda x: x + LARGE,
        lambda x: LARGE - x,
        lambda x: x * LARGE,
        lambda x: LARGE & x,
        lambda x: x | LARGE,
        lambda x: x ^ LARGE,
        lambda x: x // LARGE,
        lambda x: x < LARGE,
        lambda x: xp.where(x > 1, x, LARGE),
        lambda x: xp.maximum(x, LARGE),
        lambda x: xp.clip(x, 0, LARGE),
        lambda x: xp.full_like(x, LARGE),
    ],
)
def test_the_largest_numbers_are_combined_with_arrays(device, function):
    values = np.asarray([1, 2, 2**64 - 1], np.uint64)
    found = function(xp.asarray(values, device=device))
    np.testing.assert_array_equal(found.to_device("cpu"), function(xp.asarray(values)))
