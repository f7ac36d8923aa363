"""cornerturn as PyTorch operators, for autograd, torch.compile, torch.func and torch.export.

    import cornerturn.torch

    y = torch.ops.cornerturn.contiguous(x.permute(0, 2, 3, 1))
    y = torch.ops.cornerturn.permute(x, (0, 2, 3, 1))
    y = torch.ops.cornerturn.convert(x, torch.float16, (0, 2, 3, 1), scale=1 / 255)

All return a new tensor without gaps, on the device of x: a CPU or a CUDA GPU. `contiguous` also copies a tensor that has no
gaps. `convert` has the arguments of cornerturn.convert: dtype, dims, scale, bias, axis and saturate. Its scale and bias are
numbers or tensors. Importing this module registers the operators.
"""

from __future__ import annotations

import contextlib
from typing import Sequence

import torch
from torch._functorch.autograd_function import enable_single_level_autograd_function as _one_level

from . import _core, _libraries

_operators = torch.library.Library("cornerturn", "DEF")
_operators.define("permute(Tensor x, int[] dims) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
_operators.define("contiguous(Tensor x) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
# A schema has one type for an argument, so there is one overload for each kind of scale and bias. PyTorch tries them in
# this order. It would also take a tensor for a float, and wait for its value, so floats come last.
_CONVERTS = {"convert": ("Tensor", "Tensor"), "convert.bias": ("Tensor", "float"), "convert.scale": ("float", "Tensor"),
             "convert.numbers": ("float", "float")}
for _name, (_scale, _bias) in _CONVERTS.items():
    _operators.define(f"{_name}(Tensor x, ScalarType dtype, int[]? dims=None, {_scale}? scale=None, {_bias}? bias=None, "
                      "int? axis=None, bool saturate=True) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))


def _normal(dims: Sequence[int], count: int) -> list[int]:
    normal = [dim + count if dim < 0 else dim for dim in dims]
    if sorted(normal) != list(range(count)):
        raise ValueError(f"dims is {list(dims)}: each of x's {count} axes must be named once")
    return normal


def _contiguous(x: torch.Tensor) -> torch.Tensor:
    return torch.ops.cornerturn.permute(x, list(range(x.ndim)))


_operators.impl("contiguous", _contiguous, "CompositeImplicitAutograd")
for _device in ("CPU", "CUDA"):
    _operators.impl("permute", _core._permute_unrecorded, _device)
    for _name in _CONVERTS:
        _operators.impl(_name, _core._convert_unrecorded, _device)


@torch.library.register_fake("cornerturn::permute", lib=_operators)
def _(x, dims):
    return x.new_empty([x.shape[dim] for dim in _normal(dims, x.ndim)])


@contextlib.contextmanager
def _below():
    """Calls inside run below this level of autograd. Outer levels of torch.func record as before."""
    with torch._C._AutoDispatchBelowAutograd(), torch.enable_grad(), torch.autograd.forward_ad._set_fwd_grad_enabled(True):
        yield


def _needs_recording(x: torch.Tensor) -> bool:
    """Whether autograd may record a call with this tensor: not only if it requires grad."""
    return x.requires_grad or torch.autograd.forward_ad._current_level >= 0 or torch._C._are_functorch_transforms_active()


def _inverse(dims: Sequence[int]) -> list[int]:
    inverse = [0] * len(dims)
    for to, dim in enumerate(dims):
        inverse[dim] = to
    return inverse


class _Permute(torch.autograd.function._SingleLevelFunction):
    @staticmethod
    def forward(x, dims):
        with _below():
            return torch.ops.cornerturn.permute(x, dims)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, dims = inputs
        ctx.dims = _normal(dims, x.ndim)

    @staticmethod
    def backward(ctx, gradient):
        if ctx.dims == sorted(ctx.dims):
            return gradient, None
        return torch.ops.cornerturn.permute(gradient, _inverse(ctx.dims)), None

    @staticmethod
    def jvp(ctx, tangent, _):
        return torch.ops.cornerturn.permute(tangent, ctx.dims)


def _recorded(x, dims):
    if not _needs_recording(x):
        with torch._C._AutoDispatchBelowAutograd():
            return torch.ops.cornerturn.permute(x, dims)
    # Inside transformations of torch.func, the dispatcher calls this once for each level.
    with _one_level():
        return _Permute.apply(x, dims)


_operators.impl("permute", _recorded, "Autograd")


@torch.library.register_vmap("cornerturn::permute", lib=_operators)
def _(info, in_dims, x, dims):
    x = x.movedim(in_dims[0], 0)
    return torch.ops.cornerturn.permute(x, [0] + [1 + dim for dim in _normal(dims, x.ndim - 1)]), 0


# ---- Conversions ---------------------------------------------------------------------------------------------------

def factor_of(given):
    """A scale or bias of cornerturn.convert, as the operators take it."""
    if given is None or isinstance(given, (torch.Tensor, float)):
        return given
    if isinstance(given, (list, tuple)):
        return torch.tensor([float(number) for number in given], dtype=torch.float64)
    if hasattr(given, "__array_interface__") and getattr(given, "ndim", 0) > 0:
        return torch.tensor(given.copy())  # PyTorch takes no negative strides
    return torch.from_dlpack(given) if hasattr(given, "__dlpack__") else float(given)


def _carries_gradients(x: torch.dtype, result: torch.dtype) -> bool:
    types = {_libraries.element_of(x), _libraries.element_of(result)}
    return types <= _libraries.FLOATS or types <= _libraries.COMPLEX


def _check_factor(name, factor):
    if not isinstance(factor, torch.Tensor):
        return
    has_tangent = torch.autograd.forward_ad._current_level >= 0 and _libraries.has_forward_gradient(factor)
    if has_tangent or (factor.requires_grad and torch.is_grad_enabled()):
        raise ValueError(f"{name} has a gradient, and gradients flow to x only: pass {name}.detach()")


def _fake_convert(x, dtype, dims=None, scale=None, bias=None, axis=None, saturate=True):
    if dtype.is_complex != x.dtype.is_complex:
        raise TypeError(f"dtype is {dtype}, and x has elements of dtype {x.dtype}: complex elements can only be converted to complex "
                        "ones, and others only to others")
    order = range(x.ndim) if dims is None else _normal(dims, x.ndim)
    return x.new_empty([x.shape[dim] for dim in order], dtype=dtype)


class _Convert(torch.autograd.function._SingleLevelFunction):
    @staticmethod
    def forward(x, dtype, dims, scale, bias, axis, saturate):
        with _below():
            return torch.ops.cornerturn.convert(x, dtype, dims, scale, bias, axis, saturate)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.result, dims, scale, _, ctx.axis, _ = inputs
        ctx.source = x.dtype
        ctx.dims = list(range(x.ndim)) if dims is None else _normal(dims, x.ndim)
        ctx.number = None if isinstance(scale, torch.Tensor) else scale
        saved = (scale,) if isinstance(scale, torch.Tensor) else ()
        ctx.save_for_backward(*saved)
        ctx.save_for_forward(*saved)
        if not _carries_gradients(ctx.source, ctx.result):
            ctx.mark_non_differentiable(output)

    @staticmethod
    def _scale(ctx):
        return ctx.saved_tensors[0] if ctx.saved_tensors else ctx.number

    @staticmethod
    def backward(ctx, gradient):
        # The bias adds nothing to the gradient. The numbers of the scale belong to the same axis, at its place in x.
        axis = None if ctx.axis is None else ctx.dims[ctx.axis]
        back = torch.ops.cornerturn.convert(gradient, ctx.source, _inverse(ctx.dims), _Convert._scale(ctx), None, axis)
        return (back, *(None,) * 6)

    @staticmethod
    def jvp(ctx, tangent, *_):
        if not _carries_gradients(ctx.source, ctx.result):
            return None
        return torch.ops.cornerturn.convert(tangent, ctx.result, ctx.dims, _Convert._scale(ctx), None, ctx.axis)


def _recorded_convert(x, dtype, dims=None, scale=None, bias=None, axis=None, saturate=True):
    _check_factor("scale", scale)
    _check_factor("bias", bias)
    if not _needs_recording(x):
        with torch._C._AutoDispatchBelowAutograd():
            return torch.ops.cornerturn.convert(x, dtype, dims, scale, bias, axis, saturate)
    with _one_level():
        return _Convert.apply(x, dtype, dims, scale, bias, axis, saturate)


def _batched_convert(info, in_dims, x, dtype, dims=None, scale=None, bias=None, axis=None, saturate=True):
    if any(dim is not None for dim in in_dims[3:5]):
        raise ValueError("scale and bias must not be batched: torch.vmap can only batch x")
    x = x.movedim(in_dims[0], 0)
    order = range(x.ndim - 1) if dims is None else _normal(dims, x.ndim - 1)
    place = axis if axis is None or axis < 0 else axis + 1
    return torch.ops.cornerturn.convert(x, dtype, [0, *(1 + dim for dim in order)], scale, bias, place, saturate), 0


for _name in _CONVERTS:
    torch.library.register_fake(f"cornerturn::{_name}", _fake_convert, lib=_operators)
    _operators.impl(_name, _recorded_convert, "Autograd")
    torch.library.register_vmap(f"cornerturn::{_name}", _batched_convert, lib=_operators)
