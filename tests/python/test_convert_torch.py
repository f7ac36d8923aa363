"""Compares cornerturn.convert on PyTorch's tensors with exact arithmetic, on the CPU and on a GPU if there is one."""

import gc
import math
import pathlib
import subprocess
import sys

import hypothesis
import numpy
import pytest
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("ml_dtypes")

import cornerturn
import cornerturn.torch
from conversions import DTYPES, NEAR, check
from refusals import raises, refused
from test_torch import bits, moved, on_each, on_gpu, tensors

NAMES = {"bool": "bool", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "i8": "int8", "i16": "int16", "i32": "int32",
         "i64": "int64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "e4m3fn": "float8_e4m3fn",
         "e5m2": "float8_e5m2"}
TYPES = {name: getattr(torch, long) for name, long in NAMES.items()}
BY_TYPE = {dtype: name for name, dtype in TYPES.items()}
names = st.sampled_from(list(TYPES))
convert = torch.ops.cornerturn.convert


def as_numpy(x):
    """A numpy array of the same bytes."""
    if x.dtype.is_complex:
        return x.resolve_conj().cpu().numpy()
    return numpy.frombuffer(bits(x).cpu().numpy().tobytes(), DTYPES[BY_TYPE[x.dtype]]).reshape(x.shape)


def compare(result, x, *arguments, **options):
    assert type(result) is torch.Tensor and result.device == x.device
    check(as_numpy(result), as_numpy(x), *arguments, **options)


@st.composite
def sources(draw, of, device):
    """A view of random bytes, or of values near which conversions go wrong."""
    x = draw(tensors(dtypes=[of], most_axes=4, most_elements=300))
    if draw(st.booleans()) and (of.is_floating_point or of in (torch.int16, torch.int32)) and all(x.stride()):
        values = torch.tensor((draw(st.lists(st.sampled_from(NEAR), min_size=1, max_size=40)) * x.numel())[: x.numel()], dtype=torch.float64)
        x.copy_(values.reshape(x.shape))
    return moved(x, device)


@st.composite
def factors(draw, count, device):
    """A number, or a tensor of f32 or f64 with a number for each index, with strides."""
    finite = st.floats(-1000, 1000, width=32)
    kind = draw(st.sampled_from(("none", "number", "f32", "f64", "scalar")))
    if kind == "none":
        return None
    if kind == "number":
        return draw(finite)
    if kind == "scalar":
        return torch.tensor(draw(finite), device=device)
    values = [draw(finite) for _ in range(draw(st.sampled_from((1, count))))]
    step = draw(st.integers(1, 2))
    return torch.tensor(values, dtype=TYPES[kind], device=device).repeat_interleave(step)[::step]


def plain(factor):
    """A number, or a list."""
    return factor.tolist() if isinstance(factor, torch.Tensor) else factor


@on_each
@hypothesis.settings(max_examples=300)
@hypothesis.given(st.data(), names, names, st.booleans())
def test_values(device, data, of, to, saturate):
    x = data.draw(sources(TYPES[of], device))
    axes = data.draw(st.permutations(range(x.ndim)))
    for dtype in (to, TYPES[to], DTYPES[to]):
        result = cornerturn.convert(x, dtype, axes, saturate=saturate)
        assert result.dtype is TYPES[to] and result.is_contiguous()
        compare(result, x, axes, saturate=saturate)
    compare(convert(x, TYPES[to], axes, saturate=saturate), x, axes, saturate=saturate)


@on_each
@hypothesis.settings(max_examples=300)
@hypothesis.given(st.data(), names, names, st.booleans())
def test_scale_and_bias(device, data, of, to, saturate):
    x = data.draw(sources(TYPES[of], device))
    axes = data.draw(st.permutations(range(x.ndim)))
    axis = data.draw(st.integers(0, x.ndim - 1)) if x.ndim else None
    count = x.shape[axes[axis]] if x.ndim else 1
    scale, bias = data.draw(factors(count, device)), data.draw(factors(count, device))
    options = {"scale": scale, "bias": bias, "axis": axis, "saturate": saturate}
    expected = plain(scale), plain(bias), axis, saturate
    compare(cornerturn.convert(x, to, axes, **options), x, axes, *expected)
    compare(convert(x, TYPES[to], axes, **options), x, axes, *expected)
    memory = torch.zeros([*(x.shape[each] for each in axes), 2], dtype=torch.uint8, device=device)
    memory = memory.repeat_interleave(TYPES[to].itemsize, -1).view(TYPES[to]) if x.numel() else memory.to(torch.uint8).to(TYPES[to])
    assert cornerturn.convert(x, to, axes, out=memory[..., 0], **options).data_ptr() == memory.data_ptr()
    compare(memory[..., 0], x, axes, *expected)
    assert not bits(memory[..., 1]).any()


@on_each
def test_complex_and_lazy_views(device):
    z = torch.randn(5, 7, dtype=torch.complex128, device=device)
    for view in (z, z.conj(), z.mH):
        assert torch.equal(cornerturn.convert(view, "c64", (1, 0)), view.t().to(torch.complex64))
        assert torch.equal(cornerturn.convert(view, torch.complex128, scale=2.0), 2 * view)
        assert torch.equal(convert(view, torch.complex64), view.to(torch.complex64))
    negated = z.conj().imag
    assert torch.equal(cornerturn.convert(negated, "f32"), negated.float())
    x = torch.ones(5, 7, device=device)
    scale = negated[:, 0]
    assert scale.is_neg()
    assert torch.equal(cornerturn.convert(x, "f64", scale=scale, axis=0), x.double() * scale[:, None])


@on_each
def test_gradients(device):
    x = torch.randn(2, 3, 4, dtype=torch.float64, device=device, requires_grad=True)
    scale = torch.rand(4, dtype=torch.float64, device=device) + 0.5
    for call in (lambda x: cornerturn.convert(x, "f64", (2, 0, 1)), lambda x: cornerturn.convert(x, "f64", (2, -3, 1), scale=3.0, bias=1.0),
                 lambda x: convert(x, torch.float64, (2, 0, 1), scale=scale, bias=2.0, axis=0),
                 lambda x: convert(x, torch.float64, (1, 2, 0), scale=scale, bias=scale, axis=-2)):
        assert torch.autograd.gradcheck(call, x, check_forward_ad=True, check_batched_grad=True) and torch.autograd.gradgradcheck(call, x)
    z = torch.randn(3, 4, dtype=torch.complex128, device=device, requires_grad=True)
    assert torch.autograd.gradcheck(lambda z: cornerturn.convert(z, "c128", (1, 0), scale=3.0), z)
    # Through narrower types, the gradient has the source's type.
    gradient = torch.randn(4, 2, 3, device=device)
    (its,) = torch.autograd.grad(cornerturn.convert(x, "f32", (2, 0, 1), scale=scale, axis=0), x, gradient)
    assert its.dtype == torch.float64 and torch.equal(its, gradient.permute(1, 2, 0).double() * scale)
    for dtype in ("e4m3fn", "e5m2", "u8", "i64", "bool"):
        assert not cornerturn.convert(x, dtype).requires_grad and not convert(x, TYPES[dtype]).requires_grad
    narrow = torch.zeros(3, device=device).to(torch.float8_e5m2).requires_grad_()
    assert not cornerturn.convert(narrow, "f32").requires_grad
    if device == "cpu":
        assert torch.equal(cornerturn.convert(x, "f64", scale=[1, 2, 3], axis=1), x * torch.tensor([1, 2, 3])[:, None])
        assert torch.equal(cornerturn.convert(x, "f64", scale=numpy.float32(2)), x * 2)
        assert torch.equal(cornerturn.convert(x, "f64", scale=numpy.array([1.0, 2, 3])[::-1], axis=1), x * torch.tensor([3, 2, 1])[:, None])
        refused(ValueError, ["scale", 2, 3], cornerturn.convert, x, "f64", scale=[1, 2], axis=1)
        refused(ValueError, ["threads", 0], cornerturn.convert, x, "f64", threads=0)
    with raises(ValueError, "x", "grad"):
        cornerturn.convert(x, "f64", out=torch.zeros_like(x))
    with torch.no_grad():
        assert not cornerturn.convert(x, "f32").requires_grad
    for name in ("scale", "bias"):
        learnt = torch.ones(4, device=device, requires_grad=True)
        for call in (cornerturn.convert, convert):
            for source in (x, x.detach()):
                refused(ValueError, [name, f"{name}.detach()"], call, source, torch.float32, **{name: learnt}, axis=2)
        with torch.no_grad():
            assert cornerturn.convert(x, "f32", **{name: learnt}, axis=2).shape == x.shape


@on_each
def test_torch_func_and_forward_gradients(device):
    x = torch.randn(2, 3, 4, dtype=torch.float64, device=device)
    scale = torch.rand(4, dtype=torch.float64, device=device)

    def ours(x):
        return convert(x, torch.float64, (2, 0, 1), scale=scale, bias=1.0, axis=0)

    def its(x):
        return (x * scale + 1).permute(2, 0, 1)

    for transform in (torch.func.grad, torch.func.hessian, torch.func.jacrev, torch.func.jacfwd):
        assert torch.allclose(transform(lambda x: ours(x).sin().sum())(x), transform(lambda x: its(x).sin().sum())(x))
    assert torch.allclose(torch.func.jvp(ours, (x,), (x * 2,))[1], x.permute(2, 0, 1) * 2 * scale[:, None, None])
    for axis in range(3):
        row = torch.rand(its(x).shape[0] if axis else 4, dtype=torch.float64, device=device)[: x.movedim(axis, 0).shape[1]]
        batched = torch.func.vmap(lambda x: convert(x, torch.float32, (1, 0), scale=row, axis=-1), in_dims=axis)(x)
        whole = (x.movedim(axis, 0) * row[:, None]).transpose(1, 2)
        assert torch.equal(batched, whole.float())
    per_sample = torch.func.vmap(torch.func.grad(lambda x: convert(x, torch.float64, (1, 0), scale=2.0).sum()))(x)
    assert torch.equal(per_sample, torch.full_like(x, 2))
    assert torch.equal(torch.func.vmap(lambda x: convert(x, torch.int32))(x), x.round().int())
    with raises(ValueError, "scale", "batched"):
        torch.func.vmap(lambda s: convert(x, torch.float32, scale=s))(scale)
    assert not torch.func.grad(lambda x: convert(x, torch.float8_e4m3fn).float().sum())(x).any()
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x * 2)
        result = torch.autograd.forward_ad.unpack_dual(cornerturn.convert(dual, "f32", (2, 0, 1), scale=3.0, bias=1.0))
        assert torch.allclose(result.tangent, (6 * x).permute(2, 0, 1).float())
        assert torch.autograd.forward_ad.unpack_dual(cornerturn.convert(dual, "i32")).tangent is None
        refused(ValueError, ["scale"], cornerturn.convert, x, "f32", scale=dual[0, 0], axis=2)
        refused(ValueError, ["x"], cornerturn.convert, dual, "f32", out=torch.zeros_like(x, dtype=torch.float32))


@pytest.mark.parametrize("scale", [None, 0.5, "tensor"])
@pytest.mark.parametrize("bias", [None, 0.5, "tensor"])
def test_no_number_is_read_from_a_tensor(scale, bias):
    """It would be waited for. A tensor on the device meta has no number to read."""
    scale, bias = (torch.tensor(0.5, device="meta") if given == "tensor" else given for given in (scale, bias))
    assert convert(torch.zeros(3, 4, device="meta"), torch.float16, (1, 0), scale=scale, bias=bias).shape == (4, 3)


@on_each
def test_operators(device):
    x = torch.randn(2, 3, 4, device=device, requires_grad=True)
    scale = torch.rand(4, device=device)
    for overload, arguments in ((convert.default, (x, torch.float64, [2, 0, 1])), (convert.default, (x, torch.float16, [2, 0, 1], scale, scale, 0)),
                                (convert.scale, (x, torch.bfloat16, None, 0.5, scale, 2)), (convert.bias, (x, torch.float32, None, scale, 0.5, 2)),
                                (convert.numbers, (x, torch.float16, [-1, 0, 1], 0.5, 1.0)), (convert.default, (x, torch.float8_e4m3fn)),
                                (convert.numbers, (x, torch.uint8, None, 0.5, None, None, False)),
                                (convert.default, (torch.zeros(0, 3, device=device), torch.int32, [1, 0]))):
        torch.library.opcheck(overload, arguments)
    for wrong in ((0, 0, 1), (0, 1), (0, 1, 3)):
        with pytest.raises((ValueError, RuntimeError)):
            convert(x.detach(), torch.float16, wrong)
    with pytest.raises(TypeError):
        convert(x, torch.complex64)


@on_each
def test_compiled(device):
    x = torch.randint(0, 256, (2, 8, 9, 3), dtype=torch.uint8, device=device)
    scale, bias = torch.rand(3, device=device) / 255, torch.rand(3, device=device)

    def images(x):
        return convert(x, torch.float16, (0, 3, 1, 2), scale=scale, bias=bias, axis=1).relu() + 1

    compiled = torch.compile(images, fullgraph=True, backend="inductor")
    assert torch.equal(compiled(x), images(x))

    def work(x):
        return convert((x * 2).permute(0, 2, 1), torch.float64, scale=0.5, bias=scale, axis=2).relu()

    y = torch.randn(2, 3, 8, device=device, requires_grad=True)
    expected, result = work(y), torch.compile(work, fullgraph=True, backend="inductor")(y)
    gradient = torch.randn_like(expected)
    assert torch.equal(result, expected)
    assert torch.equal(torch.autograd.grad(result, y, gradient)[0], torch.autograd.grad(expected, y, gradient)[0])


def test_subclasses_go_through_the_operator():
    class logged(torch.Tensor):
        calls = []

        @classmethod
        def __torch_function__(cls, function, types, arguments=(), options=None):
            cls.calls.append(str(function))
            return super().__torch_function__(function, types, arguments, options or {})

    x = torch.randn(3, 4).as_subclass(logged)
    assert type(cornerturn.convert(x, "f16", (1, 0))) is logged
    assert any("cornerturn" in call for call in logged.calls)
    with raises(TypeError, "out", "logged", "torch.Tensor"):
        cornerturn.convert(torch.randn(3, 4), "f32", out=x)
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        result = cornerturn.convert(torch.empty(3, 4), "bf16", (1, 0), scale=2.0)
        assert result.shape == (4, 3) and result.dtype is torch.bfloat16


def test_other_tensors():
    parameter = torch.nn.Parameter(torch.ones(2, 3))
    assert cornerturn.convert(parameter, "bf16").grad_fn is not None
    with torch.inference_mode():
        assert cornerturn.convert(parameter, "bf16").is_inference()
    large = torch.rand(700, 900)
    assert torch.equal(cornerturn.convert(large, "bf16", (1, 0)), large.t().bfloat16())
    x, target = numpy.arange(12, dtype="f4").reshape(3, 4), torch.zeros(4, 3, dtype=torch.bfloat16)
    assert cornerturn.convert(x, "bf16", (1, 0), scale=torch.tensor([1.0, 2, 3]), axis=1, out=target) is target
    assert torch.equal(target, (torch.from_numpy(x) * torch.tensor([[1.0], [2], [3]])).t().bfloat16())
    product = torch.ones(4, 3, requires_grad=True) * target  # keeps `target` for the gradient
    cornerturn.convert(x.T, torch.bfloat16, out=target)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):  # PyTorch's message
        product.sum().backward()


def test_subnormal_numbers_are_kept_where_pytorch_flushes_them():
    x = torch.tensor([2.0**-7]).to(torch.float8_e4m3fn)
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot flush subnormal numbers")
    try:
        assert cornerturn.convert(x, "f32").item() == 2.0**-7 and cornerturn.convert(x, "f32", scale=3.0).item() == 3 * 2.0**-7
    finally:
        torch.set_flush_denormal(False)


def test_refusals():
    x = torch.zeros(3, 4)
    for wrong in (x.to_sparse(), torch.zeros(3, 4, device="meta")):
        refused(TypeError, ["x", "DLPack"], cornerturn.convert, wrong, "f16")
        refused(TypeError, ["scale", "DLPack"], cornerturn.convert, x, "f16", scale=wrong[0], axis=1)
    refused(TypeError, ["x", "torch.complex32"], cornerturn.convert, torch.zeros(3, dtype=torch.complex32), "c64")
    for wrong in (torch.complex32, torch.float8_e4m3fnuz, torch.qint8):
        refused(TypeError, ["dtype", wrong], cornerturn.convert, x, wrong)
    for wrong in (torch.float16, torch.int32, torch.bfloat16):
        refused(TypeError, ["scale", wrong, "float32"], cornerturn.convert, x, "f16", scale=torch.zeros(4, dtype=wrong), axis=1)
    refused(ValueError, ["scale", 3, 4], cornerturn.convert, x, "f16", scale=torch.zeros(3), axis=1)
    refused(ValueError, ["scale", 0, 4], cornerturn.convert, x, "f16", scale=torch.zeros(0), axis=1)
    refused(ValueError, ["axis", 2], convert, x, torch.float16, axis=2)
    refused(TypeError, ["out", "torch.float32", "f16"], cornerturn.convert, x, "f16", out=torch.zeros(3, 4))
    refused(ValueError, ["stream"], cornerturn.convert, x, "f16", stream=0)
    small = getattr(torch, "uint4", None)
    if small is not None:
        refused(TypeError, ["x", "torch.uint4"], cornerturn.convert, torch.zeros(3, dtype=torch.uint8).view(small), "f32")


def test_a_pytorch_before_dlpacks_c_interface():
    code = """
import torch, cornerturn
del torch.Tensor.__dlpack_c_exchange_api__
for device in ["cpu"] + (["cuda"] if torch.cuda.is_available() else []):
    x, scale = torch.randn(30, 40, device=device), torch.rand(30, device=device)
    expected = (x.double() * scale[:, None].double()).t().to(torch.bfloat16)
    assert torch.allclose(cornerturn.convert(x, "bf16", (1, 0), scale=scale, axis=1).float(), expected.float(), rtol=1e-2)
    out = torch.zeros(40, 30, dtype=torch.float16, device=device)
    assert torch.equal(cornerturn.convert(x, "f16", (1, 0), out=out), x.t().half())
    lazy = torch.randn(3, 4, dtype=torch.complex128, device=device).conj()
    assert torch.equal(cornerturn.convert(lazy, "c64"), lazy.to(torch.complex64))
    assert cornerturn.convert(x.requires_grad_(), "f64").grad_fn is not None
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@on_each
def test_references_are_counted(device):
    x, out = torch.randn(8, 8, device=device), torch.zeros(8, 8, dtype=torch.float16, device=device)
    scale = torch.ones(16, device=device)
    held = x, out, scale, torch.Tensor

    def work():
        cornerturn.convert(x, torch.float16, (1, 0))
        cornerturn.convert(x, "e4m3fn", scale=scale[:8], axis=0)
        cornerturn.convert(x, "f16", scale=scale[::2], bias=1.0, axis=0, out=out)

    def memory():
        return torch.cuda.memory_allocated() if device == "cuda" else 0

    for _ in range(100):
        work()
    gc.collect()
    before, blocks, taken = [sys.getrefcount(each) for each in held], sys.getallocatedblocks(), memory()
    for _ in range(10_000):
        work()
    gc.collect()
    assert [sys.getrefcount(each) for each in held] == before
    assert sys.getallocatedblocks() - blocks < 2000 and memory() == taken


# ---- Only on a GPU ----

@on_gpu
@pytest.mark.parametrize("of, to, shape, axes", [
    ("u8", "f32", (16, 1080, 1920, 3), (0, 3, 1, 2)), ("u8", "f16", (64, 224, 224, 3), (0, 3, 1, 2)), ("f32", "bf16", (512, 512, 512), (2, 1, 0)),
    ("f32", "bf16", (64, 1024, 32, 64), (0, 2, 1, 3)), ("bf16", "e4m3fn", (8192, 8192), (1, 0)), ("f32", "f64", (31, 29, 20_000), (2, 0, 1)),
    ("i64", "i32", (3, 10_000_019), (1, 0)), ("f64", "u8", (1_000_003, 57), (0, 1)), ("f16", "f32", (5,) * 8, tuple(range(7, -1, -1)))])
def test_large(of, to, shape, axes):
    """The GPU against host memory, where test_values compares with exact arithmetic."""
    size = math.prod(shape) * TYPES[of].itemsize
    x = torch.randint(0, 256, (size,), dtype=torch.uint8, device="cuda").view(TYPES[of]).view(shape)
    scale = torch.rand(shape[axes[1]], device="cuda")
    for options in ({}, {"scale": scale, "bias": 0.5, "axis": 1}):
        result = cornerturn.convert(x, to, axes, **options)
        host = {name: its.cpu() if isinstance(its, torch.Tensor) else its for name, its in options.items()}
        expected = cornerturn.convert(x.cpu(), to, axes, **host).cuda()
        is_float = TYPES[to].is_floating_point
        wide, right = ((its.float() if is_float and TYPES[to].itemsize < 4 else its) for its in (result, expected))
        same = wide == right if not is_float else (wide == right) | (wide.isnan() & right.isnan())
        assert same.all(), f"{(~same).sum()} elements differ"


@on_gpu
def test_the_current_stream_does_the_work():
    x, ones = torch.randn(4096, 4096, device="cuda"), torch.ones(4096, device="cuda")
    expected = cornerturn.convert(x, "bf16", (1, 0))
    side = torch.cuda.Stream()
    for _ in range(5):
        y, scale = torch.zeros_like(x), torch.zeros_like(ones)
        with torch.cuda.stream(side):
            side.wait_stream(torch.cuda.default_stream())
            torch.cuda._sleep(20_000_000)
            y.copy_(x)
            scale.copy_(ones)  # the kernel reads the scale in the order of the stream
            result = cornerturn.convert(y, "bf16", (1, 0), scale=scale, axis=0)
        side.synchronize()
        assert torch.equal(result, expected)


@on_gpu
@pytest.mark.parametrize("kind", ["torch", "integer", "default"])
def test_the_argument_stream(kind):
    x, ones = torch.randn(2048, 1024, device="cuda"), torch.ones(2048, device="cuda")
    expected = x.t().half()
    side, current = torch.cuda.Stream(), torch.cuda.Stream()
    stream = torch.cuda.default_stream() if kind == "default" else side
    its = {"torch": side, "integer": side.cuda_stream, "default": 0}[kind]
    torch.cuda.synchronize()
    for out in (None, torch.zeros(1024, 2048, dtype=torch.float16, device="cuda")):
        with torch.cuda.stream(current):
            y, scale = torch.zeros_like(x), torch.zeros_like(ones)
            torch.cuda._sleep(20_000_000)
            y.copy_(x)  # the given stream waits for this
            scale.copy_(ones)
            result = cornerturn.convert(y, "f16", (1, 0), scale=scale, axis=1, out=out, stream=its)
            assert torch.cuda.current_stream() == current
        with torch.cuda.stream(stream):
            same = (result == expected).all()
        stream.synchronize()
        assert same.item()


@on_gpu
def test_graphs():
    x, scale = torch.randn(300, 500, device="cuda"), torch.rand(500, device="cuda")
    out = torch.empty(500, 300, dtype=torch.bfloat16, device="cuda")
    graph = torch.cuda.CUDAGraph()
    cornerturn.convert(x, "f16", (1, 0), scale=scale, axis=0)
    with torch.cuda.graph(graph):
        y = cornerturn.convert(x, "f16", (1, 0), scale=scale, axis=0)
        cornerturn.convert(x, "bf16", (1, 0), bias=scale, axis=0, out=out)
    for _ in range(3):
        x.normal_()
        scale.uniform_()
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(y, cornerturn.convert(x, "f16", (1, 0), scale=scale, axis=0))
        assert torch.equal(out, cornerturn.convert(x, "bf16", (1, 0), bias=scale, axis=0))


@on_gpu
def test_no_synchronisation():
    """A call returns while the GPU still waits to begin with it."""
    x, scale = torch.randn(300, 500, device="cuda"), torch.tensor(2.0, device="cuda")
    cornerturn.convert(x, "e4m3fn", (1, 0), scale=scale)
    torch.cuda.synchronize()
    torch.cuda._sleep(2_000_000_000)
    done = torch.cuda.Event()
    largest = x.abs().max()
    result = cornerturn.convert(x, "e4m3fn", (1, 0), scale=448 / largest)
    done.record()
    assert not done.query()
    torch.cuda.synchronize()
    check(as_numpy(result), as_numpy(x), (1, 0), float(448 / largest))


@on_gpu
def test_refusals_on_a_gpu():
    x = torch.zeros(3, 4, device="cuda")
    refused(ValueError, ["x", "GPU 0", "out"], cornerturn.convert, x, "f16", out=torch.zeros(3, 4, dtype=torch.float16))
    for name in ("scale", "bias"):
        for wrong in (torch.ones(4), torch.tensor(1.0), numpy.ones(4)):
            refused(ValueError, [name, "GPU 0"], cornerturn.convert, x, "f16", **{name: wrong}, axis=1)
        for wrong in ([1.0] * 4, (1.0,) * 4):
            refused(ValueError, [name, "x", "GPU 0"], cornerturn.convert, x, "f16", **{name: wrong}, axis=1)
            refused(ValueError, [name, "GPU 0"], cornerturn.convert, x.clone().requires_grad_(), "f16", **{name: wrong}, axis=1)
        refused(ValueError, [name, 3, 4], cornerturn.convert, x, "f16", **{name: torch.ones(3, device="cuda")}, axis=1)
        refused(ValueError, [name, "GPU 0"], cornerturn.convert, x.cpu(), "f16", **{name: torch.ones(4, device="cuda")}, axis=1)
    refused(ValueError, ["threads"], cornerturn.convert, x, "f16", threads=2)
    square = torch.zeros(4, 4, device="cuda")
    with pytest.raises(ValueError):
        cornerturn.convert(square.t(), "f32", scale=2.0, out=square)
    assert cornerturn.convert(square, "f32", bias=1.0, out=square) is square and (square == 1).all()


@on_gpu
@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one GPU")
def test_two_gpus():
    for current in (0, 1):
        torch.cuda.set_device(current)
        for device in ("cuda:0", "cuda:1"):
            x = torch.randn(300, 500, device=device)
            y = cornerturn.convert(x, "f16", (1, 0), scale=torch.ones(300, device=device), axis=1)
            assert y.device == x.device and torch.equal(y, x.t().half()) and torch.cuda.current_device() == current
        refused(ValueError, ["scale", "GPU 1", "x", "GPU 0"], cornerturn.convert, torch.zeros(3, 4, device="cuda:0"), "f16",
                scale=torch.ones(3, device="cuda:1"), axis=0)


def flags_of(address):
    """The flags of the mapping that has this address, as Linux lists them. None: it does not."""
    try:
        lines = open("/proc/self/smaps").read().splitlines()
    except OSError:
        return None
    inside = False
    for line in lines:
        first, dash, rest = line.partition("-")
        if dash and " " in rest and not first.endswith(":") and all(c in "0123456789abcdef" for c in first):
            inside = int(first, 16) <= address < int(rest.split()[0], 16)
        elif inside and line.startswith("VmFlags:"):
            return line.split()[1:]
    return None


@pytest.mark.parametrize("function", [lambda x: cornerturn.convert(x, torch.float32), cornerturn.transpose],
                         ids=["convert", "transpose"])
def test_large_results_in_host_memory_have_huge_pages(function):
    result = function(torch.ones(16, 3 << 20, dtype=torch.float16))
    flags = flags_of(result.data_ptr() + result.nbytes // 2)
    if flags is None or not pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled").exists():
        pytest.skip("this system does not say what pages memory has")
    assert "hg" in flags
