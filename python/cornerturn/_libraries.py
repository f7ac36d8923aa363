"""Functions that ask torch, CuPy and other libraries. The module _core calls them where speed matters little.

They import only the libraries that the given arrays come from.
"""

import functools
import math
import operator
import sys

# DLPack's type codes, by the kind or the name of numpy's dtype. 3: DLPack has no such type.
_OPAQUE = 3
_CUDA, _CUDA_MANAGED = 2, 13  # DLPack's kinds of devices
_CODES_OF_KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_CODES_OF_NAMES = {
    "bfloat16": 4,
    "float8_e3m4": 7,
    "float8_e4m3": 8,
    "float8_e4m3b11fnuz": 9,
    "float8_e4m3fn": 10,
    "float8_e4m3fnuz": 11,
    "float8_e5m2": 12,
    "float8_e5m2fnuz": 13,
    "float8_e8m0fnu": 14,
}


def library_of(kind):
    """The library whose arrays have this type, and whether it is the library's own type, not a subclass."""
    for base in kind.__mro__:
        library, name = str(base.__module__).partition(".")[0], base.__name__
        if library == "torch" and name == "Tensor":
            # A parameter is an ordinary tensor. Other subclasses may behave in any way.
            return "torch", kind is base or (kind.__module__, kind.__name__) == ("torch.nn.parameter", "Parameter")
        if library == "cupy" and name == "ndarray":
            return "cupy", kind is base
        if library in ("jax", "jaxlib"):
            return "jax", True
    return "other", True


def dlpack_code(dtype):
    """DLPack's code of a numpy dtype."""
    if dtype.name in _CODES_OF_NAMES:
        return _CODES_OF_NAMES[dtype.name]
    return _CODES_OF_KINDS.get(dtype.kind, _OPAQUE) if dtype.isnative and dtype.isbuiltin == 1 else _OPAQUE


@functools.lru_cache
def pieces_of(dtype):
    """The bytes of an element that belong to it: a tuple of pieces. None: all bytes.

    Other bytes lie between the fields of a record. They may belong to other fields, if only some of them were picked. A
    piece is (offset, size, axes), in bytes. Its axes are pairs of an extent and a stride.
    """
    pieces = tuple(_pieces(dtype))
    return None if pieces == ((0, dtype.itemsize, ()),) else pieces


def _pieces(dtype):
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        inner, count = _pieces(base), math.prod(shape)
        if inner == [(0, base.itemsize, ())]:
            return [(0, dtype.itemsize, ())]
        along = ((count, base.itemsize),) if count != 1 else ()
        return [(offset, size, along + axes) for offset, size, axes in inner]
    if dtype.names is None or dtype.kind != "V":
        return [(0, dtype.itemsize, ())]
    found = []
    for name in dtype.names:
        field, start = dtype.fields[name][:2]
        found += [(start + offset, size, axes) for offset, size, axes in _pieces(field) if size > 0]
    return _with_axes(_joined(sorted(set(found))))


def _joined(pieces):
    """Pieces that touch or overlap become one."""
    joined = []
    for offset, size, axes in pieces:
        if joined and not axes and not joined[-1][2] and offset <= sum(joined[-1][:2]):
            start, before, _ = joined.pop()
            offset, size = start, max(before, offset + size - start)
        joined.append((offset, size, axes))
    return joined


def _with_axes(pieces):
    """Merges pieces of equal size and axes, at equal distances, into one piece with one more axis."""
    grouped, first = [], 0
    while first < len(pieces):
        offset, size, axes = pieces[first]
        span = size + sum((extent - 1) * stride for extent, stride in axes)
        step = pieces[first + 1][0] - offset if first + 1 < len(pieces) else 0
        count = 1
        while step >= span and pieces[first + count : first + count + 1] == [(offset + count * step, size, axes)]:
            count += 1
        grouped.append((offset, size, ((count, step), *axes) if count > 1 else axes))
        first += count
    return grouped


def dlpack_capsule(x, name, stream):
    """`x.__dlpack__()`, without a copy. On a GPU, the stream is a DLPack stream number, or -1: no stream waits."""
    if getattr(x, "requires_grad", False):
        if library_of(type(x))[0] != "torch":
            raise ValueError(f"{name} requires grad, which this would lose: pass it detached")
        x = x.detach()  # the caller has checked whether it is recorded
    try:
        if int(x.__dlpack_device__()[0]) not in (_CUDA, _CUDA_MANAGED):
            stream = None
        try:
            return x.__dlpack__(stream=stream, max_version=(1, 3), copy=False)
        except TypeError:  # of an array from before version 1 of DLPack
            return x.__dlpack__(stream=stream)
    except (BufferError, AttributeError, TypeError, ValueError, NotImplementedError) as error:
        raise TypeError(f"{name} is a {type(x).__qualname__}, which DLPack cannot describe: {error}") from error


def cuda_array_interface(x, name):
    """Address, read-only flag, extents, strides in bytes, element size, DLPack's type code, the stream, and pieces_of()."""
    its = x.__cuda_array_interface__
    try:
        (address, read_only), extents, kind, strides = its["data"], tuple(its["shape"]), its["typestr"], its.get("strides")
        order, letter, size = kind[0], kind[1], int(kind[2:].partition("[")[0])
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise TypeError(f"{name} has a __cuda_array_interface__ with a wrong or missing data, shape or typestr: {its}") from error
    if its.get("mask") is not None:
        raise TypeError(f"{name} has a mask: pass the array and its mask one by one")
    if letter == "O":
        raise TypeError(f"{name} has elements that are Python objects")
    size *= 4 if letter == "U" else 1
    if strides is None:
        strides, step = [], size
        for extent in reversed(extents):
            strides.insert(0, step)
            step *= extent
    if len(strides) != len(extents):
        raise ValueError(f"{name} has {len(extents)} extents and {len(strides)} strides in its __cuda_array_interface__")
    code = _CODES_OF_KINDS.get(letter, _OPAQUE) if order != ">" else _OPAQUE
    dtype, numpy = getattr(x, "dtype", None), sys.modules.get("numpy")
    is_record = numpy is not None and isinstance(dtype, numpy.dtype) and dtype.names is not None and dtype.itemsize == size
    pieces = pieces_of(dtype) if is_record else None
    return address or 0, bool(read_only), extents, tuple(strides), size, code, its.get("stream"), pieces


def same_dtype(a, b):
    """Whether two arrays have the same dtype. For dtypes that DLPack does not know."""
    none = object()
    return getattr(a, "dtype", none) == getattr(b, "dtype", None)


# ---- Element types of conversions ----------------------------------------------------------------------------------

# Names of the element types, and what numpy, ml_dtypes and PyTorch call them. Their positions, from 1, are the numbers of
# cornerturn_element in cornerturn/convert.h.
_ELEMENTS = {"bool": "bool", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "i8": "int8", "i16": "int16",
             "i32": "int32", "i64": "int64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
             "e4m3fn": "float8_e4m3fn", "e5m2": "float8_e5m2", "c64": "complex64", "c128": "complex128"}
NAMES = tuple(_ELEMENTS)
_LONG_NAMES = ("", *_ELEMENTS.values())
_NUMBERS = {name: number for number, names in enumerate(_ELEMENTS.items(), 1) for name in names}
FLOATS = frozenset(_NUMBERS[name] for name in ("f16", "bf16", "f32", "f64"))
COMPLEX = frozenset(_NUMBERS[name] for name in ("c64", "c128"))


def element_of(dtype):
    """The number of an element type, given by name or as a dtype of numpy, ml_dtypes or PyTorch. 0: there is no such type."""
    try:
        return _element_of(dtype)
    except TypeError:  # not hashable
        return 0


@functools.lru_cache
def _element_of(dtype):
    if isinstance(dtype, str):
        return _NUMBERS.get(dtype, 0)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(dtype, torch.dtype):
        name = str(dtype).removeprefix("torch.")
        return _NUMBERS[name] if name in _LONG_NAMES else 0
    numpy = sys.modules.get("numpy")
    if numpy is None or dtype is None:
        return 0
    dtype = numpy.dtype(dtype)
    return _NUMBERS[dtype.name] if dtype.name in _LONG_NAMES and dtype.isnative else 0


@functools.lru_cache
def dtype_in(library, number):
    """The dtype of torch or of numpy (also for CuPy) for an element type."""
    name = _LONG_NAMES[number]
    if library == "torch":
        import torch

        if not hasattr(torch, name):
            raise RuntimeError(f"dtype is {name}, which PyTorch {torch.__version__} does not have")
        return getattr(torch, name)
    import numpy

    if name not in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        return numpy.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise RuntimeError(f"a new array of numpy with dtype {name} needs the package ml_dtypes: install it") from None
    return numpy.dtype(getattr(ml_dtypes, name))


# ---- Streams -------------------------------------------------------------------------------------------------------

def stream_handle(stream):
    """The cudaStream_t of an integer, or of a stream object of torch, CuPy, numba or cuda.core, as an integer."""
    if hasattr(stream, "__index__") and not isinstance(stream, bool):
        handle = operator.index(stream)
        if not 0 <= handle < 2**63:
            raise ValueError(f"stream is {handle}: it must be a cudaStream_t as an integer, or a stream object")
        return 0 if handle == 1 else handle  # 1 is DLPack's number for the default stream
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return int((protocol() if callable(protocol) else protocol)[1])
    for name in ("cuda_stream", "ptr", "handle"):
        handle = getattr(stream, name, None)
        if handle is not None:
            return int(getattr(handle, "value", handle) or 0)
    raise TypeError(f"stream is a {type(stream).__qualname__}: it must be a cudaStream_t as an integer, or a stream object")


def on_stream(stream, array, function, *arguments, **options):
    """Calls the function while `stream` is the current stream of the array's library, torch or CuPy.

    The stream first waits for the work in the library's current stream. Memory that the call takes belongs to the stream.
    """
    handle = stream_handle(stream)
    if library_of(type(array))[0] == "cupy":
        with array.device:
            its = cupy_stream_of(handle, array.device.id)
            its.wait_event(sys.modules["cupy"].cuda.get_current_stream().record())
            with its:
                return function(*arguments, **options)
    import torch

    if not array.is_cuda:
        raise ValueError("stream is for arrays on a GPU: leave it out")
    its = torch_stream_of(handle, array.device)
    its.wait_stream(torch.cuda.current_stream(array.device))
    with torch.cuda.stream(its):
        result = function(*arguments, **options)
    for each in (*arguments, *options.values()):
        if isinstance(each, torch.Tensor) and each.is_cuda:
            each.record_stream(its)
    return result


# ---- torch ---------------------------------------------------------------------------------------------------------

def torch_stream_of(handle, device):
    import torch

    return torch.cuda.ExternalStream(handle, device) if handle else torch.cuda.default_stream(device)


def undescribed(x, name):
    """Why DLPack cannot describe a tensor, as the end of a sentence. `name`: which argument it is."""
    import torch

    if torch._C._functorch.is_functorch_wrapped_tensor(x):
        return ("; under torch.func and torch.vmap import cornerturn.torch and call torch.ops.cornerturn.permute "
                "or .contiguous")
    if x.is_nested:
        return ": it is nested"
    if x.layout != torch.strided:
        return f": its layout is {x.layout}, it must be torch.strided"
    if x.is_quantized:
        return ": it is quantised" + (f"; pass {name}.int_repr() or {name}.dequantize()" if name in ("x", "src") else "")
    if x.is_meta or x.device.type not in ("cpu", "cuda"):
        return f": it is on the device {x.device}"
    return f": either its dtype, {x.dtype}, has no type of DLPack's, or it has no memory"


def used_in(x, handle):
    """Keeps the tensor's memory from being reused until the stream of another library is done with it."""
    x.record_stream(torch_stream_of(handle, x.device))


def torch_stream(device):
    """The current stream of a PyTorch before 2.10, which lacks DLPack's interface for C code."""
    return sys.modules["torch"].cuda.current_stream(device).cuda_stream


def is_grad_enabled():
    return sys.modules["torch"].is_grad_enabled()


def has_forward_gradient(x):
    import torch

    return torch.autograd.forward_ad.unpack_dual(x).tangent is not None


def by_pytorch(x, axes):
    """Permutes a tensor with a forward gradient."""
    import torch

    return x.permute(axes).clone(memory_format=torch.contiguous_format)


def resolved(x):
    """The tensor without lazy conjugation and negation."""
    return x.resolve_conj().resolve_neg()


def plain(x):
    """The tensor that a subclass is made of. For an operator that is to use its memory."""
    import torch

    with torch._C.DisableTorchFunctionSubclass():
        return x.as_subclass(torch.Tensor)


def recorded(x, axes):
    """Calls the registered operator, for tensors that autograd records and for subclasses. axes None: contiguous."""
    import torch

    from . import torch as operators  # registers the operators

    del operators
    if axes is None:
        return torch.ops.cornerturn.contiguous(x)
    return torch.ops.cornerturn.permute(x, list(axes))


def recorded_conversion(x, number, axes, scale, bias, axis, saturate):
    """Calls the registered operator, for tensors that autograd records and for subclasses."""
    import torch

    from . import torch as operators

    scale, bias = (operators.factor_of(given) for given in (scale, bias))
    return torch.ops.cornerturn.convert(x, dtype_in("torch", number), axes, scale=scale, bias=bias, axis=axis, saturate=saturate)


def written(x):
    """Tells autograd that the tensor has changed."""
    if not x.is_inference():
        sys.modules["torch"].autograd.graph.increment_version(x)


# ---- CuPy ----------------------------------------------------------------------------------------------------------

def cupy_stream_of(handle, device):
    import cupy

    if not handle:
        return cupy.cuda.Stream.null
    if hasattr(cupy.cuda.Stream, "from_external"):
        return cupy.cuda.Stream.from_external(_Stream(handle))
    return cupy.cuda.ExternalStream(handle, device)


class _Stream:
    """A cudaStream_t in the form of CUDA's protocol for Python."""

    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return 0, self.handle


def cupy_stream(device):
    import cupy

    return cupy.cuda.get_current_stream(device).ptr


def new_cupy(like, extents, dtype):
    """A new array on the device of `like`. dtype None: that of `like`."""
    import cupy

    dtype = like.dtype if dtype is None else dtype
    made = cupy.zeros if dtype.names else cupy.empty  # zeros between the fields of records
    if cupy.cuda.runtime.getDevice() == like.device.id:
        return made(extents, dtype)
    with like.device:
        return made(extents, dtype)


# ---- Installed libraries --------------------------------------------------------------------------------------------------

def found():
    """Names and versions of the installed libraries. It imports none of them."""
    import importlib.metadata

    names = {"numpy": ["numpy"], "torch": ["torch"], "cupy": ["cupy", "cupy-cuda12x", "cupy-cuda13x"], "jax": ["jax"]}
    versions = {}
    for library, packages in names.items():
        for package in packages:
            try:
                versions[library] = importlib.metadata.version(package)
                break
            except importlib.metadata.PackageNotFoundError:
                pass
    return versions
