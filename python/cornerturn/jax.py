"""cornerturn in JAX: a transpose for use under jax.jit, jax.grad and jax.vmap.

    from cornerturn.jax import transpose

    nhwc = jax.jit(lambda x: transpose(x, (0, 2, 3, 1)))(nchw)

On CPUs and CUDA GPUs, it is a foreign function of XLA. On other devices, it is jax.numpy.transpose. XLA's compiler can
fuse its own transpose with other operations. It cannot fuse this one.
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

from . import _core

_permute = Primitive("cornerturn_permute")


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
    x = jax.numpy.asarray(x)
    if jax.dtypes.issubdtype(x.dtype, jax.dtypes.extended):
        raise TypeError(f"x has elements of dtype {x.dtype}, which are arrays themselves: pass jax.random.key_data(x)")
    given = tuple(range(x.ndim - 1, -1, -1) if axes is None else map(operator.index, axes))
    order = tuple(axis + x.ndim if axis < 0 else axis for axis in given)
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"axes is {given}: each of x's {x.ndim} axes must be named once")
    if x.ndim > 32:
        raise ValueError(f"x has {x.ndim} axes: it may have up to 32")
    if x.dtype.itemsize == 0:
        raise TypeError(f"x has elements of dtype {x.dtype}, which have no bytes")
    if re.fullmatch(r"u?int[124]|float4\w*", x.dtype.name):
        raise TypeError(f"x has elements of dtype {x.dtype}: they must be whole bytes")
    return _permute.bind(x, axes=order)


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


@_permute.def_impl
def _(x, *, axes):
    if jax.config.jax_disable_jit:  # even so XLA must run the foreign function
        with jax.disable_jit(False):
            return _jitted(x, axes=axes)
    return _jitted(x, axes=axes)


ad.deflinear2(_permute, lambda gradient, x, *, axes: [_permute.bind(gradient, axes=_inverse(axes))])
mlir.register_lowering(_permute, mlir.lower_fun(_fallback, multiple_results=False))
mlir.register_lowering(_permute, _lower, platform="cpu")
jax.ffi.register_ffi_target("cornerturn_permute", _core._xla_handler("cpu"), platform="cpu")
try:
    jax.ffi.register_ffi_target("cornerturn_permute", _core._xla_handler("cuda"), platform="CUDA")
    mlir.register_lowering(_permute, _lower, platform="cuda")
except RuntimeError:  # this build has no GPU support: on a GPU, jax.numpy.transpose does the work
    pass
