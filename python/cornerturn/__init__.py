"""Transposes, permutations of axes and conversions at memory bandwidth, for numpy, PyTorch, CuPy and JAX.

>>> import numpy, cornerturn
>>> images = numpy.zeros((8, 3, 32, 32), numpy.float32)
>>> cornerturn.contiguous(images.transpose(0, 2, 3, 1)).shape
(8, 32, 32, 3)

``cornerturn.torch`` registers ``torch.ops.cornerturn.permute``, ``.contiguous`` and ``.convert``, for autograd and
``torch.compile``. ``cornerturn.jax`` has ``transpose`` and ``convert`` for ``jax.jit``. Both are imported only when you import them or a call needs them.
"""

import copyreg as _copyreg

from ._core import contiguous, convert, copyto, explain, load_choices, matrix_transpose, save_choices, transpose, tune
from ._core import version as __version__

# Functions in C++ are pickled by their names, as Python's are. Other packages that nanobind made may share their type.
_copyreg.pickle(type(transpose), lambda function: function.__qualname__)

__all__ = ["__version__", "contiguous", "convert", "copyto", "explain", "load_choices", "matrix_transpose", "save_choices",
           "transpose", "tune"]
