"""Devices, and operations between two of them: a second CPU backend plays the other one."""

import copy
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Device, config, device
from array_api_nx.backends.cpu import CPUBackend
from array_api_nx.backends.cpu.engine import memory_pool
from array_api_nx.backends.engines.devices import ENGINES, EngineSpec
from array_api_nx.native import native
from tests.support.refusals import refused
from tests.support.tables import for_each
from tests.test_compile_eval_shape import CASES, leaves_of

CPU = Device("cpu")


@pytest.fixture
def x():
    return xp.asarray([[1.0, 2.0], [3.0, 5.0]], device="cpu")


@pytest.fixture
def y(x, fake):
    return x.to_device(fake)


def test_a_device_is_one_object_per_name():
    assert Device("cpu") is CPU
    assert Device(CPU) is CPU
    assert xp.zeros(1).device == CPU
    assert {Device("cpu"): 1}[CPU] == 1


def test_devices_equal_their_names():
    """So that code which also takes NumPy's arrays, whose device is a string, can compare."""
    assert xp.zeros(1).device == "cpu" == np.zeros(1).device
    assert CPU.uncommitted == "cpu"
    assert CPU != "cpu:0"
    assert CPU != "torch:cpu"
    assert CPU != 0
    assert hash(CPU) == hash("cpu")
    assert {"cpu": 1}[CPU] == 1


def test_devices_print_as_what_makes_them():
    assert str(CPU) == "cpu"
    assert repr(CPU) == "Device('cpu')"
    assert eval(repr(CPU)) is CPU


def test_devices_compare_with_anything(fake):
    assert fake != CPU
    assert (CPU == "cuda") is False
    assert (CPU == None) is False  # noqa: E711


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_copies_and_pickles_are_the_device_itself(duplicate, fake):
    for each in (CPU, fake):
        assert duplicate(each) is each
        assert pickle.loads(pickle.dumps(each)) is each


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("cuda", "'torch:cuda' or 'jax:cuda'"),
        ("cuda:1", "'torch:cuda:1' or 'jax:cuda:1'"),
        ("gpu", "'torch:cuda' or 'jax:cuda'"),
        ("GPU:0", "'torch:cuda:0' or 'jax:cuda:0'"),
        ("mps", "'torch:mps'"),
        ("CPU", "'cpu'"),
        ("cpu:0", "'cpu'"),
    ],
)
def test_names_that_other_libraries_have_for_devices(name, meant):
    message = rf"no device '{name}'; known devices: 'cpu'.*; did you mean {meant}\?$"
    refused(ValueError, message, Device, name)


@pytest.mark.parametrize("name", ["", "nowhere", "torch:gpu", 3, None, [], ("cpu",)])
def test_other_names_are_not_guessed(name):
    with pytest.raises(ValueError, match=r"known devices: 'cpu'") as caught:
        Device(name)
    assert "did you mean" not in str(caught.value)


def test_a_name_is_registered_once(fake):
    with pytest.raises(ValueError, match=r"'fake:0' is registered already; choose another name"):
        device.register("fake:0", CPUBackend)
    assert Device("fake:0") is fake


def test_a_backend_is_loaded_once_and_on_first_use():
    loads = []

    def load():
        loads.append(1)
        return CPUBackend()

    lazy = device.register("lazy", load)
    try:
        assert Device("lazy") is lazy
        assert loads == []
        x = xp.zeros(3, device=lazy) + 1
        assert loads == [1]
        assert float(xp.sum(x)) == 3.0
        assert loads == [1]
    finally:
        del device._devices["lazy"]


def test_a_backend_that_cannot_be_loaded_says_why():
    def load():
        raise ImportError("install the engine first")

    broken = device.register("broken", load)
    try:
        for _ in range(2):
            refused(ImportError, "install the engine first", xp.zeros, 3, device=broken)
    finally:
        del device._devices["broken"]


# Engines: families of devices, known by the beginning of their names


@pytest.fixture
def engine():
    def resolve(rest):
        if rest in ("", "0", "1"):
            return rest or "0"
        options = device.options_of(rest)
        if set(options) - {"chunks", "depth"}:
            raise ValueError("its devices are engine:0 and engine:1")
        return ",".join([f"{key}={options[key]}" for key in sorted(options)])

    def device_of(x):
        return "1" if isinstance(x, Foreign) else None

    family = EngineSpec(
        "engine",
        resolve,
        lambda name: CPUBackend(),
        lambda: ("0", "1"),
        "numpy",
        "pip install numpy",
        (Foreign.__module__.partition(".")[0],),
        device_of,
    )
    device.register_engine(family)
    try:
        yield family
    finally:
        del device._engines["engine"]
        for name in [name for name in device._resolved if name.startswith("engine")]:
            del device._resolved[name]


class Foreign:
    """Another library's array."""

    dtype = np.dtype("float32")


def test_devices_of_an_engine(engine):
    first = Device("engine:0")
    assert Device("engine") is Device("engine:0") is first
    assert (first.name, repr(first)) == ("engine:0", "Device('engine:0')")
    assert Device("engine:1") is not first
    assert pickle.loads(pickle.dumps(Device("engine:1"))) is Device("engine:1")
    assert not device.is_loaded(first)
    assert (xp.ones(2, device="engine") + 1).device == first
    assert device.is_loaded(first)
    assert xp.__array_namespace_info__().devices()[:3][0] is CPU
    assert {first, Device("engine:1")} <= set(xp.__array_namespace_info__().devices())


def test_an_unknown_device_of_a_known_engine(engine):
    with pytest.raises(
        ValueError, match=r"no device 'engine:9'; .*; options are written key=value"
    ):
        Device("engine:9")
    with pytest.raises(ValueError, match=r"known devices: 'cpu'.*; its devices are engine:0 and"):
        Device("engine:size=3")


def test_options_are_a_part_of_the_name(engine):
    made = Device("engine", chunks="64MiB", depth=2)
    assert str(made) == "engine:chunks=64MiB,depth=2"
    assert Device("engine:depth=2,chunks=64MiB") is made
    assert Device("engine:chunks=64MiB", depth=2) is made
    assert pickle.loads(pickle.dumps(made)) is made
    assert eval(repr(made)) is made


@pytest.mark.parametrize("rest", ["chunks", "=3", "1=2", "a=1,b"])
def test_options_that_are_not_written_so_are_refused(rest):
    refused(ValueError, "options are written key=value,key=value", device.options_of, rest)


def test_an_engine_is_registered_once(engine):
    refused(ValueError, "engine 'engine' is registered already", device.register_engine, engine)


def test_an_engine_that_is_not_installed(engine):
    command = "pip install no-such-module"
    missing = engine._replace(name="lacking", requires="no_such_module", install=command)
    device.register_engine(missing)
    try:
        with pytest.raises(
            ImportError,
            match=r"device 'lacking:0' needs no_such_module, which is not installed; install it "
            r"with: pip install no-such-module",
        ):
            xp.zeros(3, device="lacking:0")
    finally:
        del device._engines["lacking"]


def test_the_command_that_installs_pytorch_names_its_build_for_the_cpu_too():
    commands = {engine.name: engine.install for engine in ENGINES}
    assert all(command.startswith("pip install ") for command in commands.values())
    assert 'shows for the compute platform "CPU"' in commands["torch"]


def test_the_device_of_another_librarys_array(engine):
    assert device.device_of(Foreign()) is Device("engine:1")
    assert device.device_of(3) is None
    assert device.device_of(test_devices_of_an_engine) is None


def test_entry_points_register_backends(tmp_path, monkeypatch):
    package = tmp_path / "thirdparty"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from array_api_nx.backends.cpu import CPUBackend\n"
        "class Backend(CPUBackend):\n"
        "    def __init__(self, rest):\n"
        "        self.rest = rest\n"
    )
    metadata = tmp_path / "thirdparty-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: thirdparty\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[array_api_nx.backends]\nthirdparty = thirdparty:Backend\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    try:
        assert "thirdparty" in [each.name for each in xp.__array_namespace_info__().devices()]
        x = xp.arange(3, device="thirdparty:fast:2") + 1
        assert str(x.device) == "thirdparty:fast:2"
        backend = x.device.backend
        assert getattr(backend, "inner", backend).rest == "fast:2"
        assert np.asarray(x).tolist() == [1, 2, 3]
    finally:
        for name in [name for name in device._resolved if name.startswith("thirdparty")]:
            del device._resolved[name]


def test_the_default_device_of_a_context(fake):
    with xp.config_context(default_device="fake:0"):
        assert xp.zeros(2).device == fake
        assert xp.__array_namespace_info__().default_device() == fake
        with xp.config_context(default_device=CPU):
            assert xp.asarray([1]).device == CPU
        with xp.config_context(num_threads=1):
            assert xp.arange(3).device == fake
        assert "device" not in repr(xp.zeros(1))
        assert "device='cpu'" in repr(xp.zeros(1, device="cpu"))
        with ThreadPoolExecutor(1) as executor:
            assert executor.submit(xp.ones, 2).result().device == CPU
    assert xp.zeros(2).device == CPU


def test_the_default_device_comes_back_after_an_exception(fake):
    with pytest.raises(KeyError), xp.config_context(default_device=fake):
        raise KeyError
    assert xp.zeros(2).device == CPU
    assert config.hints.device == CPU


def test_an_unknown_default_device():
    with pytest.raises(ValueError, match="default_device: no device 'gpu'; known devices: 'cpu'"):
        xp.config_context(default_device="gpu")


def test_the_default_device_of_the_process():
    code = (
        "import array_api_nx as xp; print(xp.zeros(1).device, xp.show_config('dict')['settings'])"
    )
    environ = os.environ | {"ARRAY_API_NX_DEFAULT_DEVICE": "cpu"}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True)
    assert done.stdout.startswith("cpu ")
    assert "'default_device': 'cpu'" in done.stdout
    environ["ARRAY_API_NX_DEFAULT_DEVICE"] = "gpu"
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].startswith(
        "ValueError: ARRAY_API_NX_DEFAULT_DEVICE: no device 'gpu'; known devices: 'cpu'"
    )


def test_inspection_lists_the_devices(fake):
    info = xp.__array_namespace_info__()
    assert info.devices()[:2] == (CPU, fake)
    assert info.default_device() == CPU
    for each in (None, CPU, fake, "fake:0"):
        assert info.dtypes(device=each) == info.dtypes()
        assert info.default_dtypes(device=each)["real floating"] is xp.float64


CREATORS = {
    "arange": lambda device: xp.arange(3, device=device),
    "arange_complex": lambda device: xp.arange(3, dtype=xp.complex64, device=device),
    "arange_empty": lambda device: xp.arange(0, device=device),
    "asarray_list": lambda device: xp.asarray([1, 2], device=device),
    "asarray_scalar": lambda device: xp.asarray(1.5, device=device),
    "asarray_numpy": lambda device: xp.asarray(np.ones(2), device=device),
    "asarray_swapped": lambda device: xp.asarray(np.ones(2, ">f4"), device=device),
    "asarray_array": lambda device: xp.asarray(xp.ones(2), device=device),
    "asarray_dtype": lambda device: xp.asarray(xp.ones(2), dtype=xp.int8, device=device),
    "astype": lambda device: xp.astype(xp.ones(2), xp.int8, device=device),
    "astype_same": lambda device: xp.astype(xp.ones(2), xp.float64, copy=False, device=device),
    "empty": lambda device: xp.empty(2, device=device),
    "empty_like": lambda device: xp.empty_like(xp.ones(2), device=device),
    "eye": lambda device: xp.eye(2, device=device),
    "fftfreq": lambda device: xp.fft.fftfreq(4, device=device),
    "from_dlpack": lambda device: xp.from_dlpack(np.ones(2), device=device),
    "from_dlpack_own": lambda device: xp.from_dlpack(xp.ones(2), device=device),
    "full": lambda device: xp.full(2, 3.0, device=device),
    "full_array": lambda device: xp.full(2, xp.asarray(3.0), device=device),
    "full_like": lambda device: xp.full_like(xp.ones(2), 3.0, device=device),
    "linspace": lambda device: xp.linspace(0, 1, 3, device=device),
    "linspace_int": lambda device: xp.linspace(0, 4, 3, dtype=xp.int8, device=device),
    "ones": lambda device: xp.ones(2, device=device),
    "ones_like": lambda device: xp.ones_like(xp.ones(2), device=device),
    "rfftfreq": lambda device: xp.fft.rfftfreq(4, device=device),
    "to_device": lambda device: xp.ones(2).to_device(device),
    "zeros": lambda device: xp.zeros(2, device=device),
    "zeros_like": lambda device: xp.zeros_like(xp.ones(2), device=device),
}


@for_each("name", CREATORS)
def test_creation_on_a_device(name, fake):
    there, by_name, here = [CREATORS[name](d) for d in (fake, "fake:0", CPU)]
    assert there.device == by_name.device == fake
    assert here.device == CPU
    assert (there.shape, there.dtype) == (here.shape, here.dtype)
    if not name.startswith("empty"):
        assert np.array_equal(np.asarray(there), np.asarray(here))


@for_each("name", CREATORS)
def test_creation_on_an_unknown_device(name):
    refused(ValueError, r"no device 'gpu'; known devices: 'cpu'", CREATORS[name], "gpu")


def test_like_functions_stay_on_the_device_of_their_argument(y, fake):
    for made in (
        xp.asarray(y, copy=True),
        xp.asarray(y, dtype=xp.float32),
        xp.astype(y, xp.int8),
        xp.empty_like(y),
        xp.full_like(y, 1),
        xp.full((2,), y[0, 0]),
        xp.ones_like(y),
        xp.zeros_like(y),
        xp.from_dlpack(y),
    ):
        assert made.device == fake


def test_asarray_moves_only_when_told(x, y, fake):
    assert xp.asarray(y) is y
    assert xp.asarray(y, device=fake) is y
    moved = xp.asarray(y, device="cpu")
    assert moved.device == CPU
    shared = xp.asarray(y, device="cpu", copy=False)
    shared[...] = 5.0
    assert xp.all(y == 5.0)
    with pytest.raises(ValueError, match=r"float64 to float32 without a copy; use copy=None"):
        xp.asarray(y, dtype=xp.float32, device="cpu", copy=False)
    with pytest.raises(ValueError, match=r"from fake:0 to cpu without a copy; use copy=None"):
        xp.asarray(xp.broadcast_to(y, (2, *y.shape)), device="cpu", copy=False)


def test_to_device_both_ways(x, fake):
    assert x.to_device("cpu") is x
    there = x.to_device(fake)
    back = there.to_device(CPU)
    assert (there.device, back.device) == (fake, CPU)
    assert np.array_equal(np.asarray(back), np.asarray(x))


def test_devices_that_see_the_same_memory_share_it(x, fake):
    there = x.to_device(fake)
    back = there.to_device(CPU)
    there[0, 0] = 100.0
    back[0, 1] = 200.0
    for each in (x, there, back):
        assert np.asarray(each).tolist() == [[100.0, 200.0], [3.0, 5.0]]
    copied = xp.asarray(x, device=fake, copy=True)
    copied[...] = 0.0
    assert float(x[0, 0]) == 100.0


def test_to_device_of_views(x, fake):
    for view in (x.T, x[::-1, 1:], x[:0], x[0, 0]):
        there = view.to_device(fake)
        assert np.array_equal(np.asarray(there), np.asarray(view))
        there *= 2.0
        assert np.array_equal(np.asarray(there), np.asarray(view))


def test_to_device_of_what_cannot_be_written_copies(x, fake):
    view = xp.broadcast_to(x[0], (3, 2))
    there = view.to_device(fake)
    there[...] = 0.0
    assert np.asarray(x).tolist() == [[1.0, 2.0], [3.0, 5.0]]


class Accelerator(CPUBackend):
    """Plays an engine on a GPU, which takes the arrays of other engines but no negative strides."""

    shares_host = False

    def dlpack_device(self):
        return 2, 0

    def from_native(self, array):
        if any(step < 0 for step in array.strides):
            raise BufferError("no negative strides here")
        return super().from_native(array)


@pytest.fixture
def accelerators():
    names = "gpu:0", "gpu:1"
    one, other = [device.register(name, Accelerator) for name in names]
    try:
        yield one, other
    finally:
        for name in names:
            del device._devices[name]


def test_accelerators_share_what_may_be_written(accelerators):
    here, there = accelerators
    x = xp.arange(4.0, device=here)
    shared = xp.asarray(x[1:], device=there, copy=False)
    shared[0] = 7.0
    x[2:].to_device(there)[...] = 8.0
    assert np.asarray(x.to_device("cpu")).tolist() == [0.0, 7.0, 8.0, 8.0]
    rows = xp.broadcast_to(x, (3, 4))
    for view in (rows, rows[0], rows[1:2, ::-1], x[::-1]):
        moved = view.to_device(there)
        np.testing.assert_array_equal(
            np.asarray(moved.to_device("cpu")), np.asarray(view.to_device("cpu"))
        )
        moved[...] = 9.0
        with pytest.raises(ValueError, match="from gpu:0 to gpu:1 without a copy; use copy=None"):
            xp.asarray(view, device=there, copy=False)
    assert np.asarray(x.to_device("cpu")).tolist() == [0.0, 7.0, 8.0, 8.0]


def test_streams_and_devices_that_do_not_exist(x, fake):
    refused(ValueError, "no streams; leave out stream=", x.to_device, fake, stream=1)
    refused(ValueError, "known devices: 'cpu', 'fake:0'", x.to_device, "gpu")


RESULTS = {
    "numpy_scalar": lambda x: np.float64(2) * x,
    "mixed_dtypes": lambda x: x + xp.astype(x, xp.int8),
    "out_of_range": lambda x: xp.astype(x, xp.int8) == 1000,
    "getitem": lambda x: x[0],
    "getitem_mask": lambda x: x[x > 1],
    "getitem_list": lambda x: x[[0, 1]],
    "getitem_bool": lambda x: x[True],
    "iterate": lambda x: next(iter(x)),
    "tile_empty": lambda x: xp.tile(x, (0,)),
    "sort": lambda x: xp.sort(x, descending=True),
    "unique": lambda x: xp.unique_all(x).counts,
    "nonzero": lambda x: xp.nonzero(x)[0],
    "copy": lambda x: copy.copy(x),
    "deepcopy": lambda x: copy.deepcopy(x),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "numpy_index": lambda x: x[np.asarray([0, 1])],
}
MAKE_NEW = {"arange", "asarray", "empty", "empty_like", "eye", "full", "linspace", "ones", "zeros"}


@for_each(
    ("call", "arguments"),
    [
        *[(call, (xp.asarray([[1.0, 2.0], [3.0, 5.0]]),)) for call in RESULTS.values()],
        *[case[1:] for case in CASES if case[0] not in MAKE_NEW and "freq" not in case[0]],
    ],
)
def test_results_stay_on_the_device(call, arguments, fake):
    here = leaves_of(call(*arguments))[1]
    there = leaves_of(call(*[x.to_device(fake) for x in arguments]))[1]
    assert {x.device for x in there} <= {fake}
    assert [np.array(x).tobytes() for x in there] == [np.array(x).tobytes() for x in here]


def test_setting_and_in_place_operators_on_the_device(y, fake):
    y[0] = 7.0
    y[:, 1] = xp.asarray([8.0, 9.0], device=fake)
    y[np.asarray([True, False])] = np.float64(1)
    y += 1
    y *= np.float32(2)
    assert y.device == fake
    assert np.asarray(y).tolist() == [[4.0, 4.0], [8.0, 20.0]]


def test_repr_names_the_device_only_where_it_is_not_the_default(x, y):
    assert "device='fake:0'" in repr(y)
    assert "device" not in repr(x)


def test_unpickling_where_the_device_is_unknown(x):
    device.register("gone", CPUBackend)
    data = pickle.dumps(x.to_device("gone"))
    del device._devices["gone"]
    refused(ValueError, "no device 'gone'", pickle.loads, data)


@pytest.mark.skipif(native is None, reason="the extension, which keeps memory, is not built")
def test_memory_that_is_kept_goes_back():
    x = xp.zeros(100_000, dtype=xp.float64) + 1.0
    xp.evaluate(x)
    del x
    assert memory_pool.stats().free_bytes > 0
    CPU.release_memory()
    assert memory_pool.stats().free_bytes == 0
