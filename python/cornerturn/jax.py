"""cornerturn in JAX: a transpose and a conversion for use under jax.jit, jax.grad and jax.vmap.

    from cornerturn.jax import convert, transpose

    nhwc = jax.jit(lambda x: transpose(x, (0, 2, 3, 1)))(nchw)
    planes = jax.jit(lambda x: convert(x, "f16", (0, 3, 1, 2), scale=1 / 255))(images)

On CPUs and CUDA GPUs, each is a foreign function of XLA. On other devices, `transpose` is jax.numpy.transpose, and there
is no `convert`. XLA's compiler can fuse its own operations with others. It cannot fuse these.
"""

import functools
import operator
import re
from collections.abc import Iterable
from typing import SupportsIndex

import jax
import numpy
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _core, _libraries

_permute = Primitive("cornerturn_permute")
_convert = Primitive("cornerturn_convert")


def transpose(x: jax.Array, axes: Iterable[SupportsIndex] | None = None) -> jax.Array:
    """Permute the axes of an array.

    Parameters
    ----------
    x : jax.Array
        Up to 32 axes. The elements of its dtype must be whole bytes.
    axes : sequence of int, optional
        Axis k of the result is axis ``axes[k]`` of `x`. Default: the axes reversed.

    Returns
    -------
    jax.Array
        A new array.

    Raises
    ------
    ValueError, TypeError
        If the axes do not fit `x`, or elements are smaller than a byte.
    """
    x, order = _checked(x, axes, default=reversed)
    if x.dtype.itemsize == 0:
        raise TypeError(f"x has elements of dtype {x.dtype}, which have no bytes")
    if re.fullmatch(r"u?int[124]|float4\w*", x.dtype.name):
        raise TypeError(f"x has elements of dtype {x.dtype}: they must be whole bytes")
    return _permute.bind(x, axes=order)


def convert(x: jax.Array, dtype: object, axes: Iterable[SupportsIndex] | None = None, *, scale: object = None, bias: object = None,
            axis: SupportsIndex | None = None, saturate: bool = True) -> jax.Array:
    """Convert an array to another element type, scaled, with its axes permuted, in one pass.

    Every element of the result is ``cast(scale * x + bias)``, by the rules of `cornerturn.convert`.

    Parameters
    ----------
    x : jax.Array
        Up to 32 axes.
    dtype : str or dtype
        The element type of the result, as for `cornerturn.convert`.
    axes : sequence of int, optional
        Axis k of the result is axis ``axes[k]`` of `x`. Default: the axes stay in order.
    scale, bias : number or array of float32 or float64 or sequence of numbers, optional
        One number, or one for each index of `axis`. A number of Python is compiled into the code.
    axis : int, optional
        The axis of the result that the numbers of `scale` and `bias` belong to. It is required if they have more than one.
    saturate : bool, optional
        As for `cornerturn.convert`.

    Returns
    -------
    jax.Array
        A new array.

    Raises
    ------
    ValueError, TypeError
        If the arguments do not fit, or elements have a type that cannot be converted.
    NotImplementedError
        If the device is neither a CPU nor a CUDA GPU, or a GPU and this build has no GPU support.

    Notes
    -----
    Gradients flow to `x` only, and only if both types are f16, bf16, f32, f64 or complex. ``jax.vmap`` can batch `x` only.
    """
    x, order = _checked(x, axes, default=iter)
    number = _libraries.element_of(dtype)
    if number == 0:
        raise TypeError(f"dtype is {dtype}: conversions are to {', '.join(_libraries.NAMES)}, or numpy's dtypes of these types")
    if _libraries.element_of(x.dtype) == 0:
        raise TypeError(f"x has elements of dtype {x.dtype}: conversions are from {', '.join(_libraries.NAMES)}")
    dtype = _libraries.dtype_in("numpy", number)
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise TypeError(f"dtype is {dtype}: JAX has such arrays only after jax.config.update('jax_enable_x64', True)")
    if (dtype.kind == "c") != (x.dtype.kind == "c"):
        raise TypeError(f"dtype is {dtype}, and x has elements of dtype {x.dtype}: complex elements can only be converted to complex "
                        "ones, and others only to others")
    place = None if axis is None else operator.index(axis)
    if place is not None and not -x.ndim <= place < x.ndim:
        raise ValueError(f"axis is {place}: the result has {x.ndim} axes, it must be {-x.ndim} to {x.ndim - 1}")
    place = place + x.ndim if place is not None and place < 0 else place
    shape = tuple(x.shape[each] for each in order)
    arrays = [_factor(name, given, shape, place) for name, given in (("scale", scale), ("bias", bias))]
    if dtype.kind == "c" and bias is not None:
        raise ValueError("bias is given, and x is complex: a conversion of complex elements has none")
    scale, bias = (_IN_MEMORY if isinstance(each, jax.Array) else each for each in arrays)
    return _convert.bind(x, *(each for each in arrays if isinstance(each, jax.Array)), axes=order, dtype=dtype, scale=scale,
                         bias=bias, axis=place or 0, saturate=bool(saturate))


def matrix_transpose(x: jax.Array) -> jax.Array:
    """Transpose the matrices that the last two axes hold.

    Parameters
    ----------
    x : jax.Array
        Two axes or more. Otherwise as for `transpose`.

    Returns
    -------
    jax.Array
        A new array.
    """
    x = jax.numpy.asarray(x)
    if x.ndim < 2:
        raise ValueError(f"x has {x.ndim} axes: a stack of matrices has 2 or more")
    return transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def _checked(x, axes, default):
    """The array, and the axes as numbers from 0. `default` makes them from those in order."""
    x = jax.numpy.asarray(x)
    if jax.dtypes.issubdtype(x.dtype, jax.dtypes.extended):
        raise TypeError(f"x has elements of dtype {x.dtype}, which are arrays themselves: pass jax.random.key_data(x)")
    given = tuple(default(range(x.ndim)) if axes is None else map(operator.index, axes))
    order = tuple(axis + x.ndim if axis < 0 else axis for axis in given)
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"axes is {given}: each of x's {x.ndim} axes must be named once")
    if x.ndim > 32:
        raise ValueError(f"x has {x.ndim} axes: it may have up to 32")
    return x, order


def _fallback(x, *, axes):
    return jax.lax.transpose(x, axes)


def _lower(context, x, *, axes):
    size = context.avals_in[0].dtype.itemsize
    call = jax.ffi.ffi_lowering("cornerturn_permute")
    return call(context, x, axes=numpy.asarray(axes, numpy.int64), element_size=numpy.int64(size))


def _inverse(axes):
    return tuple(int(axis) for axis in numpy.argsort(axes))


@_permute.def_abstract_eval
def _(x, *, axes):
    return jax.lax.transpose_p.abstract_eval(x, permutation=axes)[0]


@functools.partial(batching.primitive_batchers.__setitem__, _permute)
def _(arguments, dims, *, axes):
    x = jax.numpy.moveaxis(arguments[0], dims[0], 0)
    if x.ndim > 32:
        raise ValueError(f"x has {x.ndim} axes with that of jax.vmap: it may have up to 32")
    return _permute.bind(x, axes=(0, *(axis + 1 for axis in axes))), 0


@functools.partial(jax.jit, static_argnames="axes")
def _jitted(x, *, axes):
    return _permute.bind(x, axes=axes)


def _evaluated(jitted):
    """The function that evaluates a primitive outside jax.jit."""

    def evaluate(*arguments, **parameters):
        if jax.config.jax_disable_jit:  # even so XLA must run the foreign function
            with jax.disable_jit(False):
                return jitted(*arguments, **parameters)
        return jitted(*arguments, **parameters)

    return evaluate


_permute.def_impl(_evaluated(_jitted))
ad.deflinear2(_permute, lambda gradient, x, *, axes: [_permute.bind(gradient, axes=_inverse(axes))])
mlir.register_lowering(_permute, mlir.lower_fun(_fallback, multiple_results=False))


# ---- Conversions ---------------------------------------------------------------------------------------------------

# The primitive's arguments are x, and scale and bias as far as they are arrays. The parameters scale and bias are None, a
# number, or this.
_IN_MEMORY = "array"
_NONE, _NUMBER, _F32_NUMBERS, _F64_NUMBERS = range(4)  # cornerturn_factors_kind


def _factor(name, given, shape, axis):
    """None, a number, or an array of one axis at most."""
    if given is None:
        return None
    if not isinstance(given, (list, tuple)) and not hasattr(given, "dtype"):
        return float(given)
    if isinstance(given, (numpy.generic, numpy.ndarray)) and given.ndim == 0 and given.dtype.kind in "iufb":
        return float(given)
    array = jax.numpy.asarray(given, float) if isinstance(given, (list, tuple)) else jax.numpy.asarray(given)
    if array.dtype not in (numpy.float32, numpy.float64):
        raise TypeError(f"{name} has elements of dtype {array.dtype}: they must be float32 or float64")
    if array.ndim > 1:
        raise ValueError(f"{name} has {array.ndim} axes: it must be a number, or have one axis")
    if array.size != 1:
        if axis is None:
            raise ValueError(f"axis is None: it must say to which axis of the result the {array.size} numbers of {name} belong")
        if array.size != shape[axis]:
            raise ValueError(f"{name} has {array.size} numbers: it must have 1 or {shape[axis]}, the extent of axis {axis} of the result")
    return array


def _carries_gradients(*dtypes):
    types = set(map(_libraries.element_of, dtypes))
    return types <= _libraries.FLOATS or types <= _libraries.COMPLEX


def _without_bias(arrays, parameters):
    """The arrays and parameters of the same conversion without bias: of tangents and gradients."""
    return arrays[: parameters["scale"] is _IN_MEMORY], {**parameters, "bias": None}


def _lower_convert(context, x, *arrays, axes, dtype, scale, bias, axis, saturate):
    dtypes, attributes = iter([each.dtype for each in context.avals_in[1:]]), {}
    for name, given in (("scale", scale), ("bias", bias)):
        number = 0.0 if given in (None, _IN_MEMORY) else given
        kind = _NONE if given is None else _NUMBER
        if given is _IN_MEMORY:
            kind = _F32_NUMBERS if next(dtypes) == numpy.float32 else _F64_NUMBERS
        attributes |= {name: numpy.float64(number), f"{name}_kind": numpy.int64(kind)}
    types = {"source_type": context.avals_in[0].dtype, "destination_type": dtype}
    attributes |= {name: numpy.int64(_libraries.element_of(each)) for name, each in types.items()}
    call = jax.ffi.ffi_lowering("cornerturn_convert")
    return call(context, x, *arrays, axes=numpy.asarray(axes, numpy.int64), axis=numpy.int64(axis),
                unsaturated=numpy.int64(not saturate), **attributes)


def _cannot_convert(context, *arguments, **parameters):
    raise NotImplementedError("cornerturn.jax.convert is for CPUs, and for CUDA GPUs if cornerturn was built with GPU support")


@_convert.def_abstract_eval
def _(x, *arrays, axes, dtype, **parameters):
    return jax.lax.transpose_p.abstract_eval(x, permutation=axes)[0].update(dtype=dtype, weak_type=False)


@functools.partial(batching.primitive_batchers.__setitem__, _convert)
def _(arguments, dims, *, axes, axis, **parameters):
    if any(dim is not None for dim in dims[1:]):
        raise ValueError("scale and bias must not be batched: jax.vmap can only batch x")
    x = jax.numpy.moveaxis(arguments[0], dims[0], 0)
    if x.ndim > 32:
        raise ValueError(f"x has {x.ndim} axes with that of jax.vmap: it may have up to 32")
    return _convert.bind(x, *arguments[1:], axes=(0, *(each + 1 for each in axes)), axis=axis + 1, **parameters), 0


@functools.partial(ad.primitive_jvps.__setitem__, _convert)
def _(primals, tangents, **parameters):
    x, *arrays = primals
    if any(type(tangent) is not ad.Zero for tangent in tangents[1:]):
        raise ValueError("scale or bias has a gradient, and gradients flow to x only: pass jax.lax.stop_gradient(scale)")
    result = _convert.bind(x, *arrays, **parameters)
    if type(tangents[0]) is ad.Zero or not _carries_gradients(x.dtype, parameters["dtype"]):
        return result, ad.Zero(jax.typeof(result).to_tangent_aval())
    arrays, parameters = _without_bias(arrays, parameters)
    return result, _convert.bind(tangents[0], *arrays, **parameters)


@functools.partial(ad.primitive_transposes.__setitem__, _convert)
def _(gradient, x, *arrays, **parameters):
    if type(gradient) is ad.Zero:
        return [ad.Zero(x.aval), *(None for _ in arrays)]
    axes = parameters["axes"]
    back = {**parameters, "axes": _inverse(axes), "dtype": x.aval.dtype, "axis": axes[parameters["axis"]] if axes else 0}
    return [_convert.bind(gradient, *arrays, **back), *(None for _ in arrays)]


@functools.partial(jax.jit, static_argnames=("axes", "dtype", "scale", "bias", "axis", "saturate"))
def _jitted_convert(x, *arrays, **parameters):
    return _convert.bind(x, *arrays, **parameters)


_convert.def_impl(_evaluated(_jitted_convert))
mlir.register_lowering(_convert, _cannot_convert)

for _name, _primitive, _lowering in (("permute", _permute, _lower), ("convert", _convert, _lower_convert)):
    mlir.register_lowering(_primitive, _lowering, platform="cpu")
    jax.ffi.register_ffi_target(f"cornerturn_{_name}", _core._xla_handler(_name, "cpu"), platform="cpu")
    try:
        jax.ffi.register_ffi_target(f"cornerturn_{_name}", _core._xla_handler(_name, "cuda"), platform="CUDA")
        mlir.register_lowering(_primitive, _lowering, platform="cuda")
    except RuntimeError:  # this build has no GPU support
        pass
