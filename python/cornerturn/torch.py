"""cornerturn as PyTorch operators, for autograd, torch.compile, torch.func and torch.export.

    import cornerturn.torch

    y = torch.ops.cornerturn.contiguous(x.permute(0, 2, 3, 1))
    y = torch.ops.cornerturn.permute(x, (0, 2, 3, 1))

Both return a new tensor without gaps, on the device of x: a CPU or a CUDA GPU. `contiguous` also copies a tensor that has no
gaps. Importing this module registers both.
"""

from __future__ import annotations

import contextlib
from typing import Sequence

import torch
from torch._functorch.autograd_function import enable_single_level_autograd_function as _one_level

from . import _core

_operators = torch.library.Library("cornerturn", "DEF")
_operators.define("permute(Tensor x, int[] dims) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
_operators.define("contiguous(Tensor x) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))


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


@torch.library.register_fake("cornerturn::permute", lib=_operators)
def _(x, dims):
    return x.new_empty([x.shape[dim] for dim in _normal(dims, x.ndim)])


@contextlib.contextmanager
def _below():
    """Calls inside run below this level of autograd. Outer levels of torch.func record as before."""
    with torch._C._AutoDispatchBelowAutograd(), torch.enable_grad(), torch.autograd.forward_ad._set_fwd_grad_enabled(True):
        yield


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
        inverse = [0] * len(ctx.dims)
        for to, dim in enumerate(ctx.dims):
            inverse[dim] = to
        return torch.ops.cornerturn.permute(gradient, inverse), None

    @staticmethod
    def jvp(ctx, tangent, _):
        return torch.ops.cornerturn.permute(tangent, ctx.dims)


def _recorded(x, dims):
    if not (x.requires_grad or torch.autograd.forward_ad._current_level >= 0 or torch._C._are_functorch_transforms_active()):
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
