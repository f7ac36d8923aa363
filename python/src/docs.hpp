// The docstrings of the functions of cornerturn.
#pragma once

namespace cornerturn::python::docs {

inline constexpr const char* kTranspose = R"(
Permute the axes of an array, into a new array without gaps.

The elements are copied bit for bit, at memory bandwidth. ``numpy.transpose`` and ``torch.permute`` return a view.

Parameters
----------
x : array
    A numpy array, a PyTorch tensor, a CuPy array, or an array with ``__dlpack__`` or ``__cuda_array_interface__``.
    It has up to 32 axes, strides of any sign, and any dtype of fixed size. It is not changed, and may be read-only.
axes : sequence of int, optional
    Axis k of the result is axis ``axes[k]`` of `x`. A negative axis counts from the end. Default: the axes reversed.
out : array, optional
    The array for the result. It has the result's shape and dtype, is in the same memory as `x`, and has any strides. It
    must not share elements with `x`. It is required if `x` comes from a library other than numpy, PyTorch and CuPy.
stream : int or stream object, optional
    The CUDA stream that does the work: a ``cudaStream_t``, or a stream of PyTorch, CuPy, numba or cuda.core. The call
    first makes it wait for the library's current stream. The result is ready in the given stream. Other streams must
    wait for it before they use the result. Default: the current stream of the library of `out` if given, else of `x`.
    If that library has no current stream: CUDA's default stream.
threads : int, optional
    The largest number of threads, for host memory. Default: all cores.

Returns
-------
array
    `out` if given. Else a new row-major array without gaps, from the library of `x` and its allocator.

Raises
------
ValueError
    If axes, shapes, devices or streams do not match, or `x` and `out` overlap.
TypeError
    If an argument is not an array, if its elements are Python objects or smaller than a byte, or if dtypes differ.
RuntimeError
    If CUDA reports an error, or if this build or machine cannot do the work.

Notes
-----
In host memory, the work is done when the call returns. Other Python threads run meanwhile. On a GPU, the work is
ordered in the stream. The call does not wait for it, and can be captured in a CUDA graph. If a PyTorch tensor requires
grad, the call goes through ``torch.ops.cornerturn.permute``, which autograd records.

Examples
--------
>>> import numpy, cornerturn
>>> nchw = numpy.arange(24).reshape(1, 2, 3, 4)
>>> nhwc = cornerturn.transpose(nchw, (0, 2, 3, 1))
>>> nhwc.shape, nhwc.flags.c_contiguous
((1, 3, 4, 2), True)
)";

inline constexpr const char* kMatrixTranspose = R"(
Transpose the matrices in the last two axes: ``transpose`` with these two axes swapped.

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

It does the same as ``x.contiguous()`` in PyTorch and ``numpy.ascontiguousarray`` in numpy, for any strided view.

Parameters
----------
x : array
    As for `transpose`.
stream, threads
    As for `transpose`.

Returns
-------
array
    `x` itself if it has no gaps. Else a new array, as `transpose` returns it.

Examples
--------
>>> import numpy, cornerturn
>>> view = numpy.zeros((4, 6))[::-1, ::2]
>>> cornerturn.contiguous(view).strides
(24, 8)
)";

inline constexpr const char* kCopyto = R"(
Copy the elements of an array into another. Both may have any strides.

Parameters
----------
dst : array
    The destination. Its elements must not overlap each other or those of `src`.
src : array
    The source, with the same dtype and in the same memory. Its shape is broadcast to that of `dst`, by numpy's rules.
    It may come from another library.
stream, threads
    As for `transpose`. The current stream is that of the library of `dst`.

Returns
-------
None

Raises
------
ValueError, TypeError, RuntimeError
    As for `transpose`.

Notes
-----
Memory between the elements of `dst`, and between the fields of its records, is never written. If `dst` is a PyTorch
tensor, autograd is told that it has changed.

Examples
--------
>>> import numpy, cornerturn
>>> dst = numpy.zeros((2, 3), order="F")
>>> cornerturn.copyto(dst, numpy.arange(3.0))
>>> dst
array([[0., 1., 2.],
       [0., 1., 2.]])
)";

inline constexpr const char* kConvert = R"(
Convert an array to another element type, scaled, with its axes permuted, in one pass.

Every element of the result is ``cast(scale * x + bias)``. The rules of rounding, limits and NaN are in docs/convert.md.

Parameters
----------
x : array
    As for `transpose`, with elements of a type that `dtype` can be.
dtype : str or dtype
    The element type of the result: ``"bool"``, ``"u8"``, ``"u16"``, ``"u32"``, ``"u64"``, ``"i8"``, ``"i16"``, ``"i32"``,
    ``"i64"``, ``"f16"``, ``"bf16"``, ``"f32"``, ``"f64"``, ``"e4m3fn"``, ``"e5m2"``, ``"c64"`` or ``"c128"``. The numbers
    count bits. It may also be numpy's name of the type, such as ``"float16"`` or ``"float8_e4m3fn"``, or the dtype of
    numpy, ml_dtypes or PyTorch. Complex elements can be converted to complex ones only, and others to others only.
axes : sequence of int, optional
    Axis k of the result is axis ``axes[k]`` of `x`. A negative axis counts from the end. Default: the axes stay in order.
scale, bias : number or array of float32 or float64 or sequence of numbers, optional
    What `x` is multiplied by, and what is added. An array has one number, or one for each index of `axis`. It is in the
    same memory as `x`. A sequence, such as a list, is for arrays in host memory only. Complex elements have no bias.
axis : int, optional
    The axis of the result that the numbers of `scale` and `bias` belong to. It is required if they have more than one.
saturate : bool, optional
    Whether a number beyond the range of an integer or fp8 type becomes the nearest one of that type. If False, integers
    wrap, floats are truncated to integers, and too large numbers become NaN in e4m3fn and infinity in e5m2.
out, stream, threads
    As for `transpose`. `out` has the element type `dtype`. It may be at the address of `x` if the elements have the same
    size and order: then each is converted where it lies.

Returns
-------
array
    `out` if given. Else a new row-major array without gaps, from the library of `x` and its allocator.

Raises
------
ValueError
    If axes, shapes, devices, streams, or the lengths of `scale` and `bias` do not match, or `x` and `out` overlap.
TypeError
    If an argument is not an array, or elements have a type that cannot be converted.
RuntimeError
    If CUDA reports an error, or if this build, this machine or the library of `x` cannot do the work.

Notes
-----
The rules for threads and streams are those of `transpose`. The kernel on a GPU reads `scale` and `bias` from their arrays:
the call does not wait for them. If a PyTorch tensor requires grad, the call goes through
``torch.ops.cornerturn.convert``. Gradients flow to `x` only, and only if both types are f16, bf16, f32, f64 or complex.

Examples
--------
>>> import numpy, cornerturn
>>> images = numpy.full((8, 32, 32, 3), 255, numpy.uint8)
>>> planes = cornerturn.convert(images, "f32", (0, 3, 1, 2), scale=[0.5, 0.25, 0.125], bias=[-1, -1, -1], axis=1)
>>> planes.shape, planes.dtype, planes[0, :, 0, 0]
((8, 3, 32, 32), dtype('float32'), array([126.5  ,  62.75 ,  30.875], dtype=float32))
)";

inline constexpr const char* kExplain = R"(
Say how ``transpose(x, axes)`` would be done. It moves nothing.

Parameters
----------
x : array
    As for `transpose`.
axes : sequence of int, optional
    As for `transpose`.

Returns
-------
str
    One line. In host memory: the method on all cores, and the reason for it. On a GPU: the kernel and its predicted cost.

Examples
--------
>>> import numpy, cornerturn
>>> cornerturn.explain(numpy.zeros((0, 4)))
'nothing: there is nothing to move'
)";

inline constexpr const char* kTune = R"(
Time the kernels that can do ``transpose(x, axes)`` on x's GPU, and use the fastest from then on.

Without this, each call takes the kernel with the least predicted time. That is within 5 % of the best for about 19
layouts of 20. Tuning takes tenths of a second for an array of a GB, and memory for the result. It pays for a layout that
is used thousands of times.

Parameters
----------
x : array
    An array on a GPU, as for `transpose`. Its values are read and do not change.
axes : sequence of int, optional
    As for `transpose`.

Returns
-------
str
    One line, as of `explain`: the choice.

Notes
-----
The choice holds for arrays of the same shape, strides and element size, at addresses with the same remainder by 64
bytes, until the process ends. `save_choices` can keep it longer. The call waits for the GPU. The current stream must not be in
capture.

Examples
--------
>>> import numpy, cornerturn
>>> cornerturn.tune(numpy.zeros((3, 4)))
Traceback (most recent call last):
ValueError: x is in host memory: only choices for a GPU can be measured
)";

inline constexpr const char* kSaveChoices = R"(
Write all choices of `tune` in this process to a file, as text.

Parameters
----------
file : str or os.PathLike
    The path of the file, which is replaced.
)";

inline constexpr const char* kLoadChoices = R"(
Use the choices of a file that `save_choices` wrote.

Choices for other GPUs do no harm. Choices of kernels that this version does not have are left out.

Parameters
----------
file : str or os.PathLike
    The path of the file.

Returns
-------
int
    The number of choices that were added.
)";

}  // namespace cornerturn::python::docs
