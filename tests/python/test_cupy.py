"""Compares cornerturn on CuPy's arrays with CuPy. Also moves PyTorch's and numba's arrays."""

import numpy
import pytest

cupy = pytest.importorskip("cupy")

import cornerturn
from conftest import SEED
from refusals import raises, refused
from views import WITH_HOLES, filled, put, raw


@pytest.mark.parametrize("dtype", ["?", "u1", "f2", "i4", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("seed", range(12))
def test_against_cupy(dtype, seed):
    draw = numpy.random.default_rng(seed)
    shape = draw.integers(0 if seed == 3 else 1, 30, draw.integers(0, 5))
    x = cupy.asarray(draw.integers(0, 2, shape).astype(dtype) if dtype == "?" else draw.integers(0, 100, shape).astype(dtype))
    if x.ndim:
        x = x[:: draw.choice([1, -1, 2])]
    axes = tuple(map(int, draw.permutation(x.ndim)))
    result = cornerturn.transpose(x, axes)
    assert type(result) is cupy.ndarray and result.flags.c_contiguous
    assert (result == x.transpose(axes)).all() and result.dtype == x.dtype and result.shape == x.transpose(axes).shape
    assert (cornerturn.contiguous(x) == x).all()
    out = cupy.zeros([*result.shape, 2], x.dtype)[..., 0]
    assert cornerturn.transpose(x, axes, out=out) is out and (out == result).all()


@pytest.mark.parametrize("dtype", WITH_HOLES)
def test_bytes_between_the_fields_of_records_are_not_written(dtype):
    class records:  # as in numba, whose arrays have a dtype besides the interface
        def __init__(self, x):
            self.dtype, self.memory = x.dtype, cupy.asarray(x.view(numpy.uint8))
            self.__cuda_array_interface__ = {"shape": x.shape, "typestr": f"|V{x.dtype.itemsize}", "data": (self.memory.data.ptr, False),
                                             "strides": None, "stream": None, "version": 3}

    x, to = filled(dtype, (30, 41), 1), filled(dtype, (41, 30), 2)
    source, destination = records(x), records(to)
    cornerturn.transpose(source, out=destination)
    put(to, x.T)
    assert destination.memory.get().tobytes() == raw(to)


@pytest.mark.parametrize("dtype", WITH_HOLES)
def test_bytes_between_fields_of_new_records_are_zero(dtype):
    x = filled(dtype, (30, 41), 3)
    memory = cupy.asarray(x.view(numpy.uint8))
    try:
        records = cupy.ndarray(x.shape, dtype, memory.data)
    except (TypeError, ValueError) as refusal:  # CuPy has had records since version 14
        pytest.skip(f"CuPy does not have such arrays: {refusal}")
    expected = numpy.zeros((41, 30), dtype)
    put(expected, x.T)
    for move in (cornerturn.transpose, lambda records: cornerturn.contiguous(records.T)):
        before = cupy.full(x.nbytes, 255, numpy.uint8)
        del before  # the new array gets this memory
        result = move(records)
        assert type(result) is cupy.ndarray and result.dtype == dtype
        assert cupy.ndarray(x.nbytes, numpy.uint8, result.data).get().tobytes() == raw(expected)
        del result


@pytest.mark.parametrize("of", ["?", "u1", "i2", "f2", "i4", "f4", "f8"])
@pytest.mark.parametrize("to", ["?", "u1", "i2", "f2", "i4", "f4", "f8"])
def test_convert_against_exact_arithmetic(of, to):
    pytest.importorskip("ml_dtypes")
    from conversions import check

    draw = numpy.random.default_rng([SEED, ord(of[0]), ord(to[0])])
    for _ in range(4):
        shape = tuple(map(int, draw.integers(1, 12, draw.integers(1, 4))))
        host = filled(numpy.dtype(of), shape, int(draw.integers(2**32)))
        x, step = cupy.asarray(host), int(draw.choice([1, -1, 2]))
        host, x = host[::step], x[::step]
        axes, axis = tuple(map(int, draw.permutation(x.ndim))), int(draw.integers(x.ndim))
        factors = draw.normal(0, 3, (2, x.shape[axes[axis]])).astype(draw.choice(["f4", "f8"]))
        result = cornerturn.convert(x, numpy.dtype(to), axes)
        assert type(result) is cupy.ndarray and result.dtype == to and result.flags.c_contiguous
        check(result.get(), host, axes)
        scale, bias = cupy.asarray(factors[0]), cupy.asarray(factors[1][::-1])[::-1]  # the second has gaps
        out = cupy.zeros([*result.shape, 2], to)[..., 0]
        assert cornerturn.convert(x, numpy.dtype(to), axes, scale=scale, bias=bias, axis=axis, out=out) is out
        check(out.get(), host, axes, factors[0].tolist(), factors[1].tolist(), axis)


def test_convert_of_complex_and_narrow_elements():
    z = cupy.random.rand(30, 40) + 1j
    assert (cornerturn.convert(z, "c64", (1, 0)) == z.T.astype("c8")).all()
    x = cupy.random.rand(30, 40, dtype="f4")
    torch = pytest.importorskip("torch")  # for CuPy may have no arrays of such a type
    for name in ("bf16", "e4m3fn", "e5m2"):
        long = {"bf16": "bfloat16", "e4m3fn": "float8_e4m3fn", "e5m2": "float8_e5m2"}[name]
        out = torch.zeros(40, 30, dtype=getattr(torch, long), device="cuda")
        scale = cupy.asarray([2.0])
        assert cornerturn.convert(x, name, (1, 0), scale=scale, out=out) is out
        expected = cornerturn.convert(torch.from_dlpack(x), name, (1, 0), scale=2.0)
        assert torch.equal(out.view(torch.uint8), expected.view(torch.uint8))


def test_convert_in_streams():
    x, ones = cupy.random.rand(2048, 1024, dtype="f4"), cupy.ones(1024, "f4")
    expected, side = x.T.astype("f2"), cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    for given in (side, side.ptr):
        y, scale = cupy.zeros_like(x), cupy.zeros_like(ones)
        sum(x @ x.T for _ in range(20))  # makes the stream wait
        y[...], scale[...] = x, ones
        result = cornerturn.convert(y, "f16", (1, 0), scale=scale, axis=0, stream=given)
        side.synchronize()
        assert (result == expected).all()


def test_convert_refusals():
    x = cupy.zeros((3, 4), "f4")
    for name in ("scale", "bias"):
        refused(ValueError, [name, "x", "GPU"], cornerturn.convert, x, "f16", **{name: [1.0] * 4}, axis=1)
        refused(ValueError, [name, "GPU"], cornerturn.convert, x, "f16", **{name: numpy.ones(4)}, axis=1)
        refused(ValueError, [name, 3, 4], cornerturn.convert, x, "f16", **{name: cupy.ones(3)}, axis=1)
        refused(TypeError, [name, "float16"], cornerturn.convert, x, "f16", **{name: cupy.ones(4, "f2")}, axis=1)
    refused(TypeError, ["dtype", "c64", "x", "float32"], cornerturn.convert, x, "c64")
    refused(ValueError, ["x", "GPU", "out"], cornerturn.convert, x, "f16", out=numpy.zeros((3, 4), "f2"))


def test_streams():
    x = cupy.random.rand(4096, 2048, dtype="f4")
    for its in (cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.null):
        cupy.cuda.Device().synchronize()
        with its:
            y = cupy.zeros_like(x)
            y[...] = x
            result = cornerturn.transpose(y)
        its.synchronize()
        assert (result == x.T).all()
    side = cupy.cuda.Stream(non_blocking=True)
    for given in (side, side.ptr):
        y = cupy.zeros_like(x)
        sum(x @ x.T for _ in range(20))  # makes the stream wait
        y[...] = x + 1
        result = cornerturn.transpose(y, stream=given)
        side.synchronize()
        assert (result == (x + 1).T).all()


def test_with_torch_and_numba():
    torch = pytest.importorskip("torch")
    x = cupy.random.rand(300, 500, dtype="f4")
    out = torch.zeros(500, 300, device="cuda")
    cornerturn.transpose(x, out=out)
    assert (cupy.asarray(out) == x.T).all()
    back = cupy.zeros((300, 500), "f4")
    cornerturn.copyto(back, out.t())
    assert (back == x).all()
    cuda = pytest.importorskip("numba.cuda")
    source, target = cuda.to_device(cupy.asnumpy(x)), cuda.device_array((500, 300), "f4")
    cornerturn.transpose(source, out=target)
    assert (target.copy_to_host() == cupy.asnumpy(x).T).all()
    stream = cuda.stream()
    cornerturn.transpose(source, out=target, stream=stream)
    stream.synchronize()
    with raises(TypeError, "out", "copyto"):
        cornerturn.transpose(source)
    halves = cuda.device_array((500, 300), "f2")
    cornerturn.convert(source, "f16", (1, 0), out=halves)
    assert (halves.copy_to_host() == cupy.asnumpy(x).T.astype("f2")).all()


def test_managed_memory():
    with cupy.cuda.using_allocator(cupy.cuda.malloc_managed):
        x = cupy.random.rand(100, 200)
        assert (cornerturn.transpose(x) == x.T).all()


def test_host_and_device_are_not_mixed():
    x = cupy.zeros((3, 4))
    with raises(ValueError, "x", "GPU", "out"):
        cornerturn.transpose(x, out=numpy.zeros((4, 3)))
    with raises(TypeError, "out", "float32", "x", "float64"):
        cornerturn.transpose(x, out=cupy.zeros((4, 3), "f4"))


def test_two_gpus():
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("one GPU")
    with cupy.cuda.Device(1):
        x = cupy.random.rand(30, 40)
    y = cornerturn.transpose(x)
    with cupy.cuda.Device(1):
        assert y.device.id == 1 and (y == x.T).all()
