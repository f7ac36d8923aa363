"""cornerturn as PyTorch operators, for autograd, torch.compile, vmap and torch.export.

    import cornerturn.torch

    y = torch.ops.cornerturn.contiguous(x.permute(0, 2, 3, 1))
    y = torch.ops.cornerturn.permute(x, (0, 2, 3, 1))

Both return a new tensor without gaps, on the device of x, a CPU or a CUDA GPU; `contiguous` copies one without gaps, too.
Importing this module registers them.
"""

import torch

from . import _core

_operators = torch.library.Library("cornerturn", "DEF")
_operators.define("permute(Tensor x, int[] dims) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
_operators.define("contiguous(Tensor x) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))


def _normal(dims, count):
    normal = [dim + count if dim < 0 else dim for dim in dims]
    if sorted(normal) != list(range(count)):
        raise ValueError(f"dims is {list(dims)}: each of x's {count} axes must stand there once")
    return normal


def _contiguous(x):
    return _core._permute_unrecorded(x, range(x.ndim))


for _device in ("CPU", "CUDA"):
    _operators.impl("permute", _core._permute_unrecorded, _device)
    _operators.impl("contiguous", _contiguous, _device)


@torch.library.register_fake("cornerturn::permute", lib=_operators)
def _(x, dims):
    return x.new_empty([x.shape[dim] for dim in _normal(dims, x.ndim)])


@torch.library.register_fake("cornerturn::contiguous", lib=_operators)
def _(x):
    return x.new_empty(x.shape)


def _keep_dims(ctx, inputs, output):
    x, dims = inputs
    ctx.dims = _normal(dims, x.ndim)


def _permute_back(ctx, gradient):
    inverse = [0] * len(ctx.dims)
    for to, dim in enumerate(ctx.dims):
        inverse[dim] = to
    return torch.ops.cornerturn.permute(gradient, inverse), None


torch.library.register_autograd("cornerturn::permute", _permute_back, setup_context=_keep_dims, lib=_operators)
torch.library.register_autograd("cornerturn::contiguous", lambda ctx, gradient: gradient, lib=_operators)


@torch.library.register_vmap("cornerturn::permute", lib=_operators)
def _(info, in_dims, x, dims):
    x = x.movedim(in_dims[0], 0)
    return torch.ops.cornerturn.permute(x, [0] + [1 + dim for dim in _normal(dims, x.ndim - 1)]), 0


@torch.library.register_vmap("cornerturn::contiguous", lib=_operators)
def _(info, in_dims, x):
    return torch.ops.cornerturn.contiguous(x.movedim(in_dims[0], 0)), 0
