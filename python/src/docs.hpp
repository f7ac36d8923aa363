// The docstrings of cornerturn's functions.
#pragma once

namespace cornerturn::python::docs {

inline constexpr const char* kTranspose = R"(
Permute the axes of an array, into a new array without gaps.

The elements are moved, bit for bit, at memory bandwidth. ``numpy.transpose`` and ``torch.permute`` return a view.

Parameters
----------
x : array
    Up to 32 axes, strides of any sign, any dtype of fixed size. A numpy array, a PyTorch tensor, a CuPy array, or an
    array with ``__dlpack__`` or ``__cuda_array_interface__``. It is not changed, and may be read-only.
axes : sequence of int, optional
    Axis k of the result is axis ``axes[k]`` of `x`; an axis below 0 counts from the end. Default: the axes reversed.
out : array, optional
    Where the result goes: of the result's shape and dtype, in the same memory as `x`, with any strides. It must share no
    element with `x`. Arrays of libraries other than numpy, PyTorch and CuPy need it.
stream : int or stream object, optional
    The CUDA stream that does the work: a ``cudaStream_t``, or a stream of PyTorch, CuPy, numba or cuda.core. The call first
    makes it wait for the library's current stream. The result is ready in the given stream: make other streams wait for it
    before they use it. Default: the current stream of the library that `x`, or `out` if given, comes from. If that library
    has no current stream: CUDA's default stream.
threads : int, optional
    At most so many threads, in host memory. Default: all cores.

Returns
-------
array
    `out` if given. Else a new array of the library of `x`, from its allocator, row-major without gaps.

Raises
------
ValueError
    If axes, shapes, devices or streams do not match, or `x` and `out` overlap.
TypeError
    If an argument is no array, if its elements are Python objects or smaller than a byte, or if dtypes differ.
RuntimeError
    If CUDA reports an error, or this build or machine cannot do it.

Notes
-----
In host memory the work is done on return, and other Python threads run meanwhile. On a GPU it is ordered in the stream; the
call waits for nothing, and can be captured in a CUDA graph. A PyTorch tensor that requires grad goes through
``torch.ops.cornerturn.permute``, which autograd records.

Examples
--------
>>> import numpy, cornerturn
>>> nchw = numpy.arange(24).reshape(1, 2, 3, 4)
>>> nhwc = cornerturn.transpose(nchw, (0, 2, 3, 1))
>>> nhwc.shape, nhwc.flags.c_contiguous
((1, 3, 4, 2), True)
)";

inline constexpr const char* kMatrixTranspose = R"(
Transpose the matrices that the last two axes hold: ``transpose`` with these two swapped.

Parameters
----------
x : array
    Two axes or more.
out, stream, threads
    As for `transpose`.

Returns
-------
array
    As `transpose` returns it.

Examples
--------
>>> import numpy, cornerturn
>>> cornerturn.matrix_transpose(numpy.zeros((10, 2, 3))).shape
(10, 3, 2)
)";

inline constexpr const char* kContiguous = R"(
Return an array with the same elements, row-major and without gaps.

It does what ``x.contiguous()`` does in PyTorch and ``numpy.ascontiguousarray`` in numpy, for any strided view.

Parameters
----------
x : array
    As for `transpose`.
stream, threads
    As for `transpose`.

Returns
-------
array
    `x` itself where it has no gaps. Else a new array, as `transpose` returns it.

Examples
--------
>>> import numpy, cornerturn
>>> view = numpy.zeros((4, 6))[::-1, ::2]
>>> cornerturn.contiguous(view).strides
(24, 8)
)";

inline constexpr const char* kCopyto = R"(
Copy the elements of an array into another, whatever the strides of both.

Parameters
----------
dst : array
    The destination. Its elements must not overlap each other or those of `src`.
src : array
    Of the same dtype, in the same memory. Its shape is broadcast to that of `dst`, by numpy's rules. It may come from
    another library.
stream, threads
    As for `transpose`; the current stream is that of the library of `dst`.

Returns
-------
None

Raises
------
ValueError, TypeError, RuntimeError
    As for `transpose`.

Notes
-----
What lies between the elements of `dst` is never written. Autograd learns that a PyTorch tensor has changed.

Examples
--------
>>> import numpy, cornerturn
>>> dst = numpy.zeros((2, 3), order="F")
>>> cornerturn.copyto(dst, numpy.arange(3.0))
>>> dst
array([[0., 1., 2.],
       [0., 1., 2.]])
)";

inline constexpr const char* kExplain = R"(
Say how ``transpose(x, axes)`` would be done. Nothing is moved.

Parameters
----------
x : array
    As for `transpose`.
axes : sequence of int, optional
    As for `transpose`.

Returns
-------
str
    One line: in host memory the way and its reason; on a GPU the kernel and what it costs by prediction.

Examples
--------
>>> import numpy, cornerturn
>>> cornerturn.explain(numpy.zeros((0, 4)))
'nothing: there is nothing to move'
)";

}  // namespace cornerturn::python::docs
