"""Compares cornerturn on PyTorch's tensors with PyTorch, on the CPU and on a GPU if there is one."""

import gc
import math
import subprocess
import sys

import hypothesis
import numpy
import pytest
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

import cornerturn
import cornerturn.torch
from refusals import raises, script

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
on_each = pytest.mark.parametrize("device", DEVICES)
on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32,
          torch.float64, torch.complex64, torch.complex128, torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn,
          torch.float8_e5m2, torch.float8_e8m0fnu, torch.complex32]


def bits(x):
    """The bytes of the elements, in order. PyTorch copies them."""
    size = x.element_size()
    whole = torch.empty(x.shape, dtype=x.dtype, device=x.device) if x.numel() else x.new_empty(x.shape)
    if x.numel():
        as_integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.complex128}[size]
        whole.view(as_integers).copy_(x.view(as_integers))
    return whole.view(torch.uint8) if whole.ndim else whole.reshape(1).view(torch.uint8)


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and a.device == b.device and torch.equal(bits(a).cpu(), bits(b).cpu())


@st.composite
def tensors(draw, dtypes=DTYPES, most_axes=6, most_elements=6000):
    dtype = draw(st.sampled_from(dtypes))
    shape, room = [], most_elements
    for _ in range(draw(st.integers(0, most_axes))):
        shape.append(draw(st.integers(0 if draw(st.integers(0, 19)) == 0 else 1, min(room, 70))))
        room = max(1, room // max(1, shape[-1]))
    steps = [draw(st.sampled_from((1, 1, 1, 2, 3))) if math.prod(shape) < 500 else 1 for _ in shape]
    whole = [max(1, extent * step) for extent, step in zip(shape, steps)]
    offset = draw(st.integers(0, 5))
    size = torch.empty((), dtype=dtype).element_size()
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    memory = torch.randint(0, 2 if dtype is torch.bool else 256, ((math.prod(whole) + offset) * size,), dtype=torch.uint8, generator=generator)
    x = memory.view(dtype)[offset:].view(whole)
    for axis, (extent, step) in enumerate(zip(shape, steps)):
        x = x[(slice(None),) * axis + (slice(0, extent * step, step),)] if extent else x.narrow(axis, 0, 0)
    x = x.permute(draw(st.permutations(range(x.ndim))))
    if x.ndim and x.numel() and draw(st.integers(0, 5)) == 0:
        axis = draw(st.integers(0, x.ndim - 1))
        x = x.narrow(axis, 0, 1).expand(x.shape)
    return x


def moved(x, device):
    """A copy of the tensor on the device, with the same strides."""
    if device == "cpu":
        return x
    return torch.empty(0, dtype=x.dtype, device=device).set_(x.untyped_storage().to(device=device), x.storage_offset(), x.shape, x.stride())


@on_each
@hypothesis.settings(max_examples=400)
@hypothesis.given(tensors(), st.data())
def test_transpose_and_contiguous(device, x, data):
    x = moved(x, device)
    axes = data.draw(st.permutations(range(x.ndim)))
    result = cornerturn.transpose(x, axes)
    assert type(result) is torch.Tensor and result.is_contiguous() and same(result, x.permute(axes))
    packed = cornerturn.contiguous(x)
    assert packed.is_contiguous() and same(packed, x)
    if x.is_contiguous():
        assert packed is x
    assert same(torch.ops.cornerturn.permute(x, axes), x.permute(axes))
    copy = torch.ops.cornerturn.contiguous(x)
    assert same(copy, x) and copy.is_contiguous()


@on_each
@hypothesis.given(tensors(most_axes=4), st.data())
def test_out_and_copyto(device, x, data):
    x = moved(x, device)
    axes = data.draw(st.permutations(range(x.ndim)))
    expected = x.permute(axes)
    step = data.draw(st.integers(1, 3))
    memory = torch.zeros([*expected.shape, step], dtype=torch.uint8, device=device)
    memory = memory.repeat_interleave(x.element_size(), -1).contiguous().view(x.dtype) if x.numel() else x.new_zeros(memory.shape)
    out = memory[..., 0]
    assert cornerturn.transpose(x, axes, out=out) is out and same(out, expected)
    assert not bits(memory[..., 1:]).any()
    cornerturn.copyto(memory, x.permute(axes)[..., None])
    assert all(same(memory[..., i], expected) for i in range(step))


@on_each
def test_pytorch_owns_new_tensors(device):
    x = torch.randn(40, 30, device=device)
    y = cornerturn.transpose(x)
    assert y.untyped_storage().resizable() and not y.requires_grad and y.grad_fn is None and y._version == 0
    assert y.untyped_storage().nbytes() == x.untyped_storage().nbytes()
    with torch.inference_mode():
        assert cornerturn.transpose(x).is_inference()
    parameter = torch.nn.Parameter(x)
    with torch.no_grad():
        z = cornerturn.transpose(parameter)
    assert type(z) is torch.Tensor and not z.requires_grad and same(z, x.t())


@on_each
def test_views_that_are_conjugated_or_negated(device):
    x = torch.randn(5, 7, dtype=torch.complex64, device=device)
    for view in (x.conj(), x.conj().imag, x.mH):
        assert torch.equal(cornerturn.transpose(view), view.t()) and torch.equal(cornerturn.contiguous(view), view)
        assert not cornerturn.transpose(view).is_conj()
        out = torch.empty(view.t().shape, dtype=view.dtype, device=device)
        assert torch.equal(cornerturn.transpose(view, out=out), view.t())
        assert torch.equal(torch.ops.cornerturn.permute(view, (1, 0)), view.t())
    with raises(ValueError, "out"):
        cornerturn.transpose(x, out=torch.empty(7, 5, dtype=x.dtype, device=device).conj())


@on_each
def test_gradients(device):
    x = torch.randn(2, 3, 4, dtype=torch.float64, device=device, requires_grad=True)
    assert cornerturn.transpose(x, (2, 0, 1)).grad_fn is not None
    assert cornerturn.contiguous(x) is x
    assert cornerturn.contiguous(x.permute(2, 0, 1)).grad_fn is not None
    for call in (lambda x: cornerturn.transpose(x, (2, -3, 1)), lambda x: cornerturn.contiguous(x.permute(1, 2, 0)), cornerturn.matrix_transpose):
        assert torch.autograd.gradcheck(call, x) and torch.autograd.gradgradcheck(call, x)
    target = torch.empty(4, 3, 2, dtype=torch.float64, device=device)
    with raises(ValueError, "x", "grad"):
        cornerturn.transpose(x, out=target)
    with raises(ValueError, "dst", "grad"):
        cornerturn.copyto(x, target.permute(2, 1, 0))
    with torch.no_grad():
        cornerturn.transpose(x, out=target)
        assert not cornerturn.transpose(x).requires_grad
    assert torch.equal(target, x.permute(2, 1, 0))


@on_each
def test_torch_func_and_forward_gradients(device):
    x = torch.randn(2, 3, 4, dtype=torch.float64, device=device)

    def its(x):
        return x.permute(2, 0, 1)

    for ours in (lambda x: torch.ops.cornerturn.permute(x, (2, 0, 1)), lambda x: torch.ops.cornerturn.contiguous(its(x))):
        for transform in (torch.func.grad, torch.func.hessian, torch.func.jacrev, torch.func.jacfwd):
            assert torch.allclose(transform(lambda x: ours(x).sin().sum())(x), transform(lambda x: its(x).sin().sum())(x))
        assert torch.equal(torch.func.jvp(ours, (x,), (x * 2,))[1], its(x * 2))
        assert torch.autograd.gradcheck(ours, x.clone().requires_grad_(), check_forward_ad=True, check_batched_grad=True)
        per_sample = torch.func.vmap(torch.func.grad(lambda x: torch.ops.cornerturn.permute(x, (1, 0)).sin().sum()))
        assert torch.allclose(per_sample(x), x.cos())
    for call in (cornerturn.transpose, cornerturn.contiguous):
        with raises(TypeError, "torch.func", "torch.vmap", "cornerturn.torch"):
            torch.func.vmap(call)(x)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x * 2)
        for ours in (lambda x: cornerturn.transpose(x, (2, 0, 1)), lambda x: cornerturn.contiguous(its(x))):
            assert torch.equal(torch.autograd.forward_ad.unpack_dual(ours(dual)).tangent, its(x * 2))
        with raises(ValueError, "src"):
            cornerturn.copyto(torch.zeros_like(x), dual)
        with raises(ValueError, "dst"):
            cornerturn.copyto(dual, x)


@on_each
def test_threads_of_recorded_tensors_are_checked(device):
    x = torch.zeros(3, 4, device=device, requires_grad=True)
    for wrong in (0, "a") if device == "cpu" else (1,):
        with pytest.raises((ValueError, TypeError)):
            cornerturn.transpose(x, threads=wrong)


def test_matrix_transpose_of_every_kind():
    x = torch.randn(2, 3, 4, dtype=torch.complex64)
    for view in (x, x.conj(), x.conj().imag, x.clone().requires_grad_()):
        assert torch.equal(cornerturn.matrix_transpose(view), view.mT)


@on_each
def test_autograd_detects_writes(device):
    x, out = torch.randn(3, 3, device=device), torch.ones(3, 3, device=device)
    w = torch.ones(3, 3, device=device, requires_grad=True)
    product = w * out  # keeps `out` for the gradient
    cornerturn.transpose(x, out=out)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):  # PyTorch's message
        product.sum().backward()


@on_each
def test_operators(device):
    x = torch.randn(2, 3, 4, device=device, requires_grad=True)
    torch.library.opcheck(torch.ops.cornerturn.permute, (x, [2, 0, 1]))
    torch.library.opcheck(torch.ops.cornerturn.permute, (x, [-1, 0, 1]))
    torch.library.opcheck(torch.ops.cornerturn.contiguous, (x.permute(2, 0, 1),))
    torch.library.opcheck(torch.ops.cornerturn.contiguous, (x.detach()[:, ::2],))
    torch.library.opcheck(torch.ops.cornerturn.permute, (torch.zeros(0, 3, device=device), [1, 0]))
    for wrong in ((0, 0, 1), (0, 1), (0, 1, 3)):
        with pytest.raises((ValueError, RuntimeError)):
            torch.ops.cornerturn.permute(x.detach(), wrong)
    batched = torch.func.vmap(lambda x: torch.ops.cornerturn.permute(x, (1, 0)), in_dims=1)(x)
    assert torch.equal(batched, x.permute(1, 2, 0))
    assert torch.equal(torch.func.vmap(torch.ops.cornerturn.contiguous, in_dims=2)(x), x.permute(2, 0, 1))


@on_each
def test_compiled(device):
    def work(x):
        return torch.ops.cornerturn.contiguous((x * 2).permute(0, 2, 3, 1)).relu()

    compiled = torch.compile(work, fullgraph=True, backend="inductor")
    x = torch.randn(2, 3, 8, 8, device=device, requires_grad=True)
    expected = (x * 2).permute(0, 2, 3, 1).contiguous().relu()
    result = compiled(x)
    assert torch.equal(result, expected) and result.is_contiguous()
    gradient = torch.randn_like(expected)
    assert torch.equal(torch.autograd.grad(result, x, gradient)[0], torch.autograd.grad(expected, x, gradient)[0])


def test_refusals():
    x = torch.zeros(3, 4)
    for wrong in (x.to_sparse(), torch.zeros(3, 4, device="meta")):
        with raises(TypeError, "x", "DLPack"):
            cornerturn.transpose(wrong)
    with raises(ValueError, "stream"):
        cornerturn.transpose(x, stream=0)
    with raises(TypeError, "out", "torch.int32", "x", "torch.float32"):
        cornerturn.transpose(x, out=torch.zeros(4, 3, dtype=torch.int32))
    with raises(ValueError, "destination", "(4, 4)", "source", "(4, 4)"):
        square = torch.zeros(4, 4)
        cornerturn.transpose(square, out=square)


def test_integers_of_few_bits_keep_their_type():
    for name in ("int1", "int4", "int7", "uint1", "uint4", "uint7"):
        dtype = getattr(torch, name, None)
        if dtype is None:
            continue  # this PyTorch does not have the dtype yet
        for shape in ((3, 4), (1100, 1000)):  # small and large tensors are made by different code
            x = torch.arange(shape[0] * shape[1]).to(torch.uint8).reshape(shape).view(dtype)
            for result in (cornerturn.transpose(x), cornerturn.contiguous(x.T)):
                assert result.dtype == dtype and torch.equal(result.view(torch.uint8), x.view(torch.uint8).T)
        plain = torch.zeros(shape, dtype=torch.int8 if name.startswith("int") else torch.uint8)
        for to, source in ((plain, x), (x, plain), (x, numpy.zeros(shape, "i1")), (numpy.zeros(shape, "u1"), x)):
            with raises(TypeError, "src", "dtype"):
                cornerturn.copyto(to, source)


def test_tensors_that_dlpack_cannot_describe():
    x = torch.ones(3, 4)
    for undescribed, why, advice in ((x.to_sparse(), ["torch.sparse_coo"], []), (x.to("meta"), ["meta"], []),
                                     (torch.quantize_per_tensor(x, 0.1, 0, torch.qint8), [], ["x.int_repr()"]),
                                     (torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), [], [])):
        with raises(TypeError, "x", "DLPack", *why, *advice):
            cornerturn.transpose(undescribed)
        with raises(TypeError, "out", "DLPack", *why) as caught:
            cornerturn.transpose(x, out=undescribed)
        assert "int_repr" not in str(caught.value)


def test_subclasses_go_through_the_operator():
    class logged(torch.Tensor):
        calls = []

        @classmethod
        def __torch_function__(cls, function, types, arguments=(), options=None):
            cls.calls.append(str(function))
            return super().__torch_function__(function, types, arguments, options or {})

    x = torch.randn(3, 4).as_subclass(logged)
    assert type(cornerturn.transpose(x)) is logged and torch.equal(torch.Tensor(cornerturn.transpose(x)), torch.Tensor(x).t())
    assert any("cornerturn" in call for call in logged.calls)
    with raises(TypeError, "out", "logged", "torch.Tensor"):
        cornerturn.transpose(torch.randn(4, 3), out=x)
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        assert cornerturn.transpose(torch.empty(3, 4)).shape == (4, 3)


def test_to_and_from_numpy():
    numpy = pytest.importorskip("numpy")
    x, target = numpy.arange(12, dtype="f4").reshape(3, 4), torch.zeros(4, 3)
    cornerturn.transpose(x, out=target)
    assert (target.numpy() == x.T).all()
    back = numpy.zeros((3, 4), "f4")
    cornerturn.copyto(back, target.t())
    assert (back == x).all()
    ml_dtypes = pytest.importorskip("ml_dtypes")
    halves = numpy.zeros((4, 3), ml_dtypes.bfloat16)
    cornerturn.copyto(halves, target.bfloat16())
    assert (halves.astype("f4") == target.numpy()).all()
    with raises(TypeError, "src", "torch.bfloat16", "dst", "float16"):
        cornerturn.copyto(numpy.zeros((4, 3), "f2"), target.bfloat16())
    lazy = torch.randn(4, 3, dtype=torch.complex64).conj()
    for view in (lazy, lazy.imag):
        into = numpy.zeros((4, 3), view.resolve_neg().resolve_conj().numpy().dtype)
        cornerturn.copyto(into, view)
        assert (into == view.resolve_neg().resolve_conj().numpy()).all()
    for wrong in (torch.zeros(4, 3).to_sparse(), torch.zeros(4, 3, device="meta")):
        with raises(TypeError, "src", "DLPack"):
            cornerturn.copyto(back.T.copy(), wrong)


@on_each
def test_references_are_counted(device):
    x, out = torch.randn(8, 8, device=device), torch.randn(8, 8, device=device)
    axes = (1, 0)

    def work():
        cornerturn.transpose(x, axes)
        cornerturn.contiguous(x.t())
        cornerturn.transpose(x, axes, out=out)
        cornerturn.copyto(out, x)

    def memory():
        return torch.cuda.memory_allocated() if device == "cuda" else 0

    for _ in range(100):
        work()
    gc.collect()
    before, blocks, held = [sys.getrefcount(each) for each in (x, out, axes, torch.Tensor)], sys.getallocatedblocks(), memory()
    for _ in range(100_000):
        work()
    gc.collect()
    assert [sys.getrefcount(each) for each in (x, out, axes, torch.Tensor)] == before
    assert sys.getallocatedblocks() - blocks < 2000 and memory() == held


def test_a_pytorch_before_dlpacks_c_interface():
    code = """
import torch, cornerturn
del torch.Tensor.__dlpack_c_exchange_api__
devices = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
for device in devices:
    large = torch.randn(1000, 1100, device=device)
    assert torch.equal(cornerturn.transpose(large), large.t()) and type(cornerturn.transpose(large)) is torch.Tensor
    small = torch.zeros(3, 4, device=device).to(torch.float8_e4m3fn)
    assert type(cornerturn.transpose(small)) is torch.Tensor
    lazy = torch.randn(3, 4, dtype=torch.complex64, device=device).conj()
    assert torch.equal(cornerturn.transpose(lazy), lazy.t()) and torch.equal(cornerturn.contiguous(lazy.t()), lazy.t())
    x = torch.randn(30, 40, device=device)
    out = torch.zeros(40, 30, device=device)
    assert torch.equal(cornerturn.transpose(x), x.t()) and torch.equal(cornerturn.transpose(x, out=out), x.t())
    x.requires_grad_()
    assert cornerturn.transpose(x).grad_fn is not None
    with torch.no_grad():
        assert torch.equal(cornerturn.transpose(x), x.t())
    if device == "cuda":
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            torch.cuda._sleep(20_000_000)
            y = x.detach() * 2
            z = cornerturn.transpose(y)
        side.synchronize()
        assert torch.equal(z, (x * 2).t())
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- Only on a GPU ----

@on_gpu
@pytest.mark.parametrize("shape", [(8192, 8192), (3, 20_000_003), (1_000_003, 257), (64, 197, 12, 64), (31, 29, 200_000), (5,) * 8])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.bfloat16, torch.float32, torch.float64])
def test_large(shape, dtype):
    x = torch.randint(0, 256, (*shape[:-1], shape[-1] * dtype.itemsize), dtype=torch.uint8, device="cuda").view(dtype)
    axes = tuple(range(1, len(shape))) + (0,)
    assert torch.equal(bits(cornerturn.transpose(x, axes)), bits(x.permute(axes)))
    assert torch.equal(bits(cornerturn.transpose(x)), bits(x.permute(tuple(reversed(range(len(shape)))))))


@on_gpu
def test_the_current_stream_does_the_work():
    x = torch.randn(4096, 4096, device="cuda")
    side = torch.cuda.Stream()
    for _ in range(5):
        y = torch.zeros_like(x)
        with torch.cuda.stream(side):
            side.wait_stream(torch.cuda.default_stream())
            torch.cuda._sleep(20_000_000)
            y.copy_(x)
            result = cornerturn.transpose(y)  # would be zeros if it ran before the copy
            total = (result - x.t()).abs().sum()
        side.synchronize()
        assert total.item() == 0


@on_gpu
@pytest.mark.parametrize("kind", ["torch", "integer", "protocol", "default"])
def test_the_argument_stream(kind):
    class protocol:
        def __init__(self, stream):
            self.stream = stream

        def __cuda_stream__(self):
            return 0, self.stream.cuda_stream

    x = torch.randn(2048, 1024, device="cuda")
    side = torch.cuda.Stream()
    its = {"torch": side, "integer": side.cuda_stream, "protocol": protocol(side), "default": 0}[kind]
    stream = torch.cuda.default_stream() if kind == "default" else side
    current = torch.cuda.Stream()
    for out in (None, torch.zeros(1024, 2048, device="cuda")):
        with torch.cuda.stream(current):
            y = torch.zeros_like(x)
            torch.cuda._sleep(20_000_000)
            y.copy_(x)  # the given stream waits for this
            result = cornerturn.transpose(y, out=out, stream=its)
            assert torch.cuda.current_stream() == current
        with torch.cuda.stream(stream):
            total = (result - x.t()).abs().sum()
        stream.synchronize()
        assert total.item() == 0
    with raises(TypeError, "stream", "str"):
        cornerturn.transpose(x, stream="side")
    with raises(ValueError, "stream", -1):
        cornerturn.transpose(x, stream=-1)


@on_gpu
def test_record_stream_keeps_new_memory():
    x, side = torch.randn(64, 64, device="cuda"), torch.cuda.Stream()
    y = cornerturn.transpose(x)
    address = y.data_ptr()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(500_000_000)
    y.record_stream(side)
    del y
    assert cornerturn.transpose(x).data_ptr() != address
    torch.cuda.synchronize()


@on_gpu
def test_graphs():
    x, out = torch.randn(300, 500, device="cuda"), torch.empty(500, 300, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = cornerturn.transpose(x)
        cornerturn.copyto(out, x.t())
        z = cornerturn.contiguous(y.t()[::2])
    for _ in range(3):
        x.normal_()
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(y, x.t()) and torch.equal(out, x.t()) and torch.equal(z, x[::2])


@on_gpu
def test_refusals_on_a_gpu():
    x = torch.zeros(3, 4, device="cuda")
    with raises(ValueError, "x", "GPU 0", "out"):
        cornerturn.transpose(x, out=torch.zeros(4, 3))
    with raises(ValueError, "x", "out", "GPU 0"):
        cornerturn.transpose(x.cpu(), out=torch.zeros(4, 3, device="cuda"))
    with raises(ValueError, "threads"):
        cornerturn.transpose(x, threads=2)
    with raises(ValueError, "destination", "(4, 4)", "source", "(4, 4)"):
        square = torch.zeros(4, 4, device="cuda")
        cornerturn.transpose(square, out=square)
    with pytest.raises(torch.cuda.OutOfMemoryError):
        cornerturn.contiguous(torch.empty(1, device="cuda").expand(1 << 20, 1 << 19))
    assert script.names(cornerturn.explain(torch.zeros(8, 3, 50, 70, device="cuda"), (3, 1, 0, 2)), "us")


@on_gpu
def test_pinned_memory():
    pinned = torch.randn(100, 200).pin_memory()
    assert torch.equal(cornerturn.transpose(pinned), pinned.t())


@on_gpu
@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one GPU")
def test_two_gpus():
    for current in (0, 1):
        torch.cuda.set_device(current)
        for device in ("cuda:0", "cuda:1"):
            x = torch.randn(300, 500, device=device)
            y = cornerturn.transpose(x)
            assert y.device == x.device and torch.equal(y, x.t()) and torch.cuda.current_device() == current
            side = torch.cuda.Stream(device)
            z = cornerturn.transpose(x, stream=side)
            side.synchronize()
            assert torch.equal(z, x.t()) and script.names(cornerturn.explain(x), "matrices")
        with raises(ValueError, "x", "GPU 0", "out", "GPU 1"):
            cornerturn.transpose(torch.zeros(3, 4, device="cuda:0"), out=torch.zeros(4, 3, device="cuda:1"))
        with raises(ValueError, "src", "GPU 1", "dst", "GPU 0"):
            cornerturn.copyto(torch.zeros(3, 4, device="cuda:0"), torch.zeros(3, 4, device="cuda:1"))


@on_gpu
def test_memory_of_expandable_segments():
    code = "import torch, cornerturn; x = torch.randn(300, 400, device='cuda'); assert torch.equal(cornerturn.transpose(x), x.t())"
    subprocess.run([sys.executable, "-c", code], check=True, env={**__import__("os").environ, "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"})


@on_gpu
def test_the_interpreter_ends_with_work_in_flight():
    code = ("import torch, cornerturn; x = torch.randn(8192, 8192, device='cuda'); torch.cuda._sleep(2_000_000_000)\n"
            "for _ in range(50): y = cornerturn.transpose(x)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr


@on_gpu
def test_tuned_layouts(tmp_path):
    x = torch.randint(0, 256, (37, 211, 53), dtype=torch.uint8, device="cuda")
    text = cornerturn.tune(x, (2, 0, 1))
    assert "us" in text
    assert same(cornerturn.transpose(x, (2, 0, 1)), x.permute(2, 0, 1).contiguous())
    file = tmp_path / "choices"
    cornerturn.save_choices(file)
    assert cornerturn.load_choices(str(file)) >= 1
    records = numpy.zeros(4)
    with raises(ValueError, "x"):
        cornerturn.tune(records)
    with raises(ValueError, str(tmp_path / "absent")):
        cornerturn.load_choices(tmp_path / "absent")
    file.write_text("nothing of the kind")
    with raises(ValueError, "cornerturn choices 1"):
        cornerturn.load_choices(file)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = cornerturn.transpose(x, (2, 0, 1))
        with raises(ValueError, "capture"):
            cornerturn.tune(x, (0, 2, 1))
    graph.replay()
    assert same(captured, x.permute(2, 0, 1).contiguous())
