"""Compares cornerturn on numpy's arrays with numpy."""

import gc
import sys
import threading
import time

import hypothesis
import numpy
import pytest
from hypothesis import strategies as st
from refusals import raises, refused, script
from views import DTYPES, RECORD, WITH_HOLES, clean, filled, owned, put, raw, same, views, views_and_axes

import cornerturn

threads = st.sampled_from((None, 1, 2, 3))


@hypothesis.settings(max_examples=400)
@hypothesis.given(views_and_axes(), threads)
def test_transpose(drawn, threads):
    x, axes = drawn
    before = raw(x)
    result = cornerturn.transpose(x, axes, threads=threads)
    assert type(result) is numpy.ndarray and result.flags.c_contiguous and result.flags.owndata
    assert same(result, x.transpose(axes)) and raw(result) == raw(clean(result))
    assert raw(x) == before


@hypothesis.given(views())
def test_transpose_reverses_the_axes(x):
    assert same(cornerturn.transpose(x), x.T)


@hypothesis.settings(max_examples=200)
@hypothesis.given(views(), threads)
def test_contiguous(x, threads):
    result = cornerturn.contiguous(x, threads=threads)
    assert result.flags.c_contiguous and same(result, x)
    assert (result is x) == x.flags.c_contiguous


@hypothesis.given(views())
def test_matrix_transpose(x):
    if x.ndim < 2:
        with raises(ValueError, "x", x.ndim, 2):
            cornerturn.matrix_transpose(x)
    else:
        assert same(cornerturn.matrix_transpose(x), x.swapaxes(-1, -2))


@hypothesis.settings(max_examples=200)
@hypothesis.given(views_and_axes(), st.data())
def test_out_keeps_the_bytes_between_its_elements(drawn, data):
    x, axes = drawn
    expected = x.transpose(axes)
    steps = [data.draw(st.sampled_from((1, 1, 2, -1, -3))) for _ in expected.shape]
    whole = [max(1, extent * abs(step)) for extent, step in zip(expected.shape, steps)]
    memory, untouched = filled(x.dtype, whole, 7), filled(x.dtype, whole, 7)
    cut = (..., *(slice(None, None, step) for step in steps)), (..., *(slice(0, extent) for extent in expected.shape))
    out = memory[cut[0]][cut[1]]
    assert cornerturn.transpose(x, axes, out=out) is out
    assert same(out, expected)
    put(untouched[cut[0]][cut[1]], expected)
    assert raw(memory) == raw(untouched)


@hypothesis.settings(max_examples=200)
@hypothesis.given(views(most_axes=4), st.data())
def test_copyto_broadcasts_as_numpy_does(source, data):
    shape = [extent if extent != 1 or data.draw(st.booleans()) else data.draw(st.integers(0, 4)) for extent in source.shape]
    shape = [data.draw(st.integers(1, 3)) for _ in range(data.draw(st.integers(0, 2)))] + shape
    ours, its = filled(source.dtype, shape, 1), filled(source.dtype, shape, 1)
    cornerturn.copyto(ours, source)
    put(its, source)
    assert raw(ours) == raw(its)


@pytest.mark.parametrize("dtype", WITH_HOLES)
def test_bytes_between_fields_are_not_written(dtype):
    x = filled(dtype, (30, 41), 1)
    for threads in (None, 1):
        ours, its = filled(dtype, (41, 30), 2), filled(dtype, (41, 30), 2)
        cornerturn.transpose(x, out=ours, threads=threads)
        put(its, x.T)
        assert raw(ours) == raw(its)
    assert raw(cornerturn.transpose(x)) == raw(clean(x.T))
    assert raw(cornerturn.contiguous(x[::-1])) == raw(clean(x[::-1]))
    first = int(owned(dtype).argmax())  # the first byte that belongs to a field
    assert script.names(cornerturn.explain(x), f"byte {first}")


def test_some_fields_are_copied():
    r, s = filled(RECORD, (50,), 1), filled(RECORD, (50,), 2)
    before = r.copy()
    cornerturn.copyto(r[["a", "c"]], s[["a", "c"]])
    for name in RECORD.names:
        assert raw(numpy.ascontiguousarray(r[name])) == raw(numpy.ascontiguousarray((s if name in "ac" else before)[name]))
    before = raw(r)
    refused(TypeError, ["src", "dst"], cornerturn.copyto, r[["a", "c"]], s[["c", "a"]])
    refused(TypeError, ["src", "dst"], cornerturn.copyto, r[["a", "c"]], s[["a", "b"]])
    # Field c of each source element is field a of a destination element.
    two = numpy.dtype({"names": ["a", "c"], "formats": ["i4", "i4"], "offsets": [0, 4]})
    shifted = numpy.ndarray((20,), two, r, 4, (8,)), numpy.ndarray((20,), two, r, 0, (8,))
    overlap = ["destination", "(20)", "source", "(20)"]
    refused(ValueError, overlap, cornerturn.copyto, *shifted)
    holes = numpy.dtype({"names": ["a", "c"], "formats": ["i4", "i4"], "offsets": [0, 8], "itemsize": 12})
    shifted = numpy.ndarray((20,), holes, r, 4, (12,)), numpy.ndarray((20,), holes, r, 0, (12,))
    refused(ValueError, overlap, cornerturn.copyto, *shifted)
    assert raw(r) == before


def test_fields_may_overlap():
    inner = numpy.dtype([("a", "u1"), ("b", "u2")], align=True)
    kind = numpy.dtype({"names": ["h", "a", "b", "c"], "formats": ["u1", (inner, (2,)), (inner, (2,)), (inner, (3,))],
                        "offsets": [0, 2, 2, 4], "itemsize": 19})
    ours, its, x = filled(kind, (9,), 1), filled(kind, (9,), 1), filled(kind, (9,), 2)
    cornerturn.copyto(ours, x)
    put(its, x)
    assert raw(ours) == raw(its)


def test_records_of_many_fields():
    names = [f"f{i}" for i in range(300)]
    whole = numpy.dtype([(name, ("u1", "f4", "f8", "S3")[i % 4]) for i, name in enumerate(names)])
    x = filled(whole, (7, 5), 4)
    for picked in (names[::2], names[1:200], names[1::7][::-1]):
        assert raw(cornerturn.transpose(x[picked])) == raw(clean(x[picked].T))
    assert raw(cornerturn.transpose(x)) == raw(x.T)


def test_the_most_axes_of_records():
    inner = numpy.dtype([("a", "u1"), ("b", "u2")], align=True)
    nested = numpy.dtype([("n", inner, (2,))])
    for shape in ((2,) * 3 + (1,) * 29, (1,) * 32):
        x = filled(nested, shape, 3)
        assert raw(cornerturn.transpose(x)) == raw(clean(x.T))
    too_many = numpy.lib.stride_tricks.as_strided(filled(nested, (1,), 3), (2,) * 32, (0,) * 32)
    refused(ValueError, [33, 32], cornerturn.explain, too_many)


@pytest.mark.parametrize("shape, dtype", [((2049, 1023), "f4"), ((3, 700001), "u1"), ((64, 197, 12, 16), "f2"), ((1 << 20, 3), "f8"),
                                          ((5000001,), "i4"), ((31, 29, 2000), "c16")])
def test_large(shape, dtype):
    x = filled(numpy.dtype(dtype), shape, 3)
    for axes in (None, tuple(range(1, len(shape))) + (0,)):
        assert same(cornerturn.transpose(x, axes), x.transpose(axes))
    assert same(cornerturn.contiguous(x[::-1]), x[::-1])


def test_strides_that_are_no_multiples_of_the_element_size():
    records = filled(numpy.dtype([("a", "u1"), ("b", "f8"), ("c", "u2")]), (50, 40), 5)
    for name in "abc":
        assert same(cornerturn.transpose(records[name]), records[name].T)
    out = records.copy()
    cornerturn.transpose(records["b"][:40], out=out["b"][:40])
    assert out["b"][:40].tobytes() == records["b"][:40].T.tobytes() and out["a"].tobytes() == records["a"].tobytes()


def test_read_only_and_mapped_arrays(tmp_path):
    x = filled(numpy.dtype("f4"), (30, 50), 1)
    x.flags.writeable = False
    assert same(cornerturn.transpose(x), x.T)
    numpy.save(tmp_path / "x.npy", x)
    mapped = numpy.load(tmp_path / "x.npy", mmap_mode="r")
    result = cornerturn.transpose(mapped)
    assert type(result) is numpy.ndarray and same(result, numpy.asarray(mapped).T)
    target = numpy.lib.format.open_memmap(tmp_path / "y.npy", "w+", "f4", (50, 30))
    cornerturn.transpose(mapped, out=target)
    target.flush()
    assert same(numpy.load(tmp_path / "y.npy"), x.T)


def test_elements_of_no_bytes():
    for kind in ("S0", "U0", "V0"):
        x = numpy.zeros((2, 3), [("empty", kind), ("number", "i4")])["empty"]
        assert x.itemsize == 0
        for _ in range(50):
            result = cornerturn.transpose(x)
            assert result.shape == (3, 2) and not any(result.tobytes())


def test_many_axes():
    x = numpy.arange(2**10).reshape((2,) * 10 + (1,) * 22)
    assert same(cornerturn.transpose(x), x.T)
    field = filled(numpy.dtype([("a", "u1"), ("b", "f8")]), (2,) * 5 + (1,) * 27, 3)["b"]
    assert same(cornerturn.transpose(field), field.T)


def test_refusals():
    x = numpy.zeros((3, 4), "f4")
    refused(ValueError, ["axes", 1, "x", 2], cornerturn.transpose, x, (0,))
    refused(ValueError, ["axes[1]", 2, "x", 2, -2, 1], cornerturn.transpose, x, (0, 2))
    refused(ValueError, ["axes[1]", -2], cornerturn.transpose, x, (0, -2))
    refused(TypeError, ["float"], cornerturn.transpose, x, (0.0, 1))
    refused(TypeError, ["int"], cornerturn.transpose, x, 1)
    refused(ValueError, ["out", "(3, 4)", "(4, 3)"], cornerturn.transpose, x, out=x.copy())
    refused(TypeError, ["out", "float64", "x", "float32"], cornerturn.transpose, x, out=numpy.zeros((4, 3)))
    refused(TypeError, ["out", "int32", "x", "float32"], cornerturn.transpose, x, out=numpy.zeros((4, 3), "i4"))
    square = numpy.arange(16.0).reshape(4, 4)
    before = square.copy()
    refused(ValueError, ["destination", "(4, 4)", "source", "(4, 4)"], cornerturn.transpose, square, out=square)
    assert same(square, before)
    locked = numpy.zeros((4, 3), "f4")
    locked.flags.writeable = False
    refused(ValueError, ["out"], cornerturn.transpose, x, out=locked)
    refused(ValueError, ["dst"], cornerturn.copyto, locked, x.T)
    repeated = numpy.lib.stride_tricks.as_strided(numpy.zeros(9, "f4"), (3, 4), (4, 4))
    refused(ValueError, ["destination.stride(0)", 1], cornerturn.copyto, repeated, x)
    refused(ValueError, ["src", "(3, 4)", "dst", "(4, 4)"], cornerturn.copyto, square.astype("f4"), x)
    refused(ValueError, ["threads", 0, 1], cornerturn.transpose, x, threads=0)
    refused(ValueError, ["threads", -1, 1], cornerturn.contiguous, x, threads=-1)
    refused(TypeError, ["float"], cornerturn.transpose, x, threads=1.5)
    refused(ValueError, ["stream"], cornerturn.transpose, x, stream=0)
    refused(TypeError, ["x", "object"], cornerturn.transpose, x.astype(object))
    refused(TypeError, ["x", "'a'", "'b'"], cornerturn.transpose, numpy.zeros(3, [("a", "f4"), ("b", object)]))
    if hasattr(getattr(numpy, "dtypes", None), "StringDType"):
        refused(TypeError, ["x", "StringDType"], cornerturn.transpose, numpy.array(["a", "b"], numpy.dtypes.StringDType()))
    refused(TypeError, ["x", "MaskedArray", "numpy.asarray(x)"], cornerturn.transpose, numpy.ma.masked_array(x, x > 0))
    for other in ([1, 2], 3, "text", None, b"bytes", memoryview(b"bytes")):
        refused(TypeError, ["x", type(other).__name__, "__dlpack__"], cornerturn.transpose, other)
    refused(TypeError, ["transpose"], cornerturn.transpose)
    if numpy.lib.NumpyVersion(numpy.__version__) >= "2.0.0":  # numpy 2 allows up to 64 axes
        refused(ValueError, ["x", 33, 32], cornerturn.transpose, numpy.zeros((1,) * 33))


def test_explain():
    assert cornerturn.explain(numpy.zeros((300, 400), "f4")).startswith("matrices")
    assert cornerturn.explain(numpy.zeros((0, 4))).startswith("nothing")
    assert cornerturn.explain(numpy.zeros((8, 3, 5, 7)), (0, 2, 3, 1))
    refused(ValueError, ["axes", 1, "x", 2], cornerturn.explain, numpy.zeros((3, 4)), (0,))


class dlpack_only:
    """An array that has only DLPack's methods."""

    def __init__(self, x, versioned=True):
        self.x, self.versioned = x, versioned

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, **options):
        if not self.versioned and options.pop("max_version", None):
            raise TypeError("an array from before version 1 of DLPack")
        return self.x.__dlpack__(**options)


@pytest.mark.parametrize("versioned", [True, False])
def test_arrays_of_other_libraries(versioned):
    x = filled(numpy.dtype("i4"), (30, 40), 9)
    out = numpy.zeros((40, 30), "i4")
    cornerturn.transpose(dlpack_only(x, versioned), out=out)
    assert same(out, x.T)
    target = numpy.zeros((40, 30), "i4")
    cornerturn.transpose(x, out=dlpack_only(target, versioned))
    assert same(target, x.T)
    refused(TypeError, ["dlpack_only", "out", "copyto"], cornerturn.transpose, dlpack_only(x))
    refused(TypeError, ["out", "uint32", "x"], cornerturn.transpose, dlpack_only(x), out=numpy.zeros((40, 30), "u4"))


class cuda_array:
    def __init__(self, **changes):
        self.__cuda_array_interface__ = {"shape": (2, 3), "typestr": "<f4", "data": (4096, False), "version": 3} | changes


@pytest.mark.parametrize("wrong, error", [
    ({"strides": (4,)}, ValueError), ({"shape": (2, 0), "strides": (4,)}, ValueError), ({"shape": (0.5, 2)}, ValueError),
    ({"typestr": "q"}, TypeError), ({"typestr": "<f"}, TypeError), ({"typestr": "|O8"}, TypeError), ({"data": None}, TypeError),
    ({"data": (2**70, False)}, ValueError), ({"mask": 1}, TypeError), ({"shape": (1,) * 33}, ValueError)])
def test_malformed_descriptions(wrong, error):
    with pytest.raises(error):
        cornerturn.transpose(cuda_array(**wrong), out=numpy.zeros((3, 2), "f4"))


def test_refusals_of_dlpack():
    for x in (numpy.zeros((3, 4), ">f4"), numpy.zeros((3, 4), "M8[s]")):
        refused(TypeError, ["x", "dlpack_only", "DLPack"], cornerturn.transpose, dlpack_only(x), out=numpy.zeros((4, 3)))

    class no_device(dlpack_only):
        def __dlpack_device__(self):
            return None

    refused(TypeError, ["x", "no_device", "DLPack"], cornerturn.transpose, no_device(numpy.zeros((3, 4))), out=numpy.zeros((4, 3)))

    class recorded(dlpack_only):
        requires_grad = True

    refused(ValueError, ["x", "grad"], cornerturn.transpose, recorded(numpy.zeros((3, 4))), out=numpy.zeros((4, 3)))
    refused(ValueError, ["axes[0]", 2**70], cornerturn.transpose, numpy.zeros((3, 4)), (2**70, 0))
    refused(ValueError, ["stream", 2**70], cornerturn.copyto, dlpack_only(numpy.zeros((3, 4))), numpy.zeros((3, 4)), stream=2**70)
    odd = type("odd", (), {"__module__": None})()
    refused(TypeError, ["x", "odd", "__dlpack__"], cornerturn.transpose, odd)

    class copies(dlpack_only):
        def __dlpack__(self, **options):
            return self.x.__dlpack__(**options | {"copy": True})

    if numpy.lib.NumpyVersion(numpy.__version__) >= "2.1.0":
        refused(ValueError, ["dst"], cornerturn.copyto, copies(numpy.zeros((3, 4))), numpy.zeros((3, 4)))


def test_references_are_counted():
    x = numpy.zeros((8, 8), "f4")
    out, axes, other = numpy.zeros((8, 8), "f4"), (1, 0), dlpack_only(numpy.zeros((8, 8), "f4"))
    held = [x, out, axes, x.dtype, other, other.x, numpy.ndarray, dlpack_only]

    def work():
        cornerturn.transpose(x, axes)
        cornerturn.contiguous(x.T)
        cornerturn.transpose(x, axes, out=out)
        cornerturn.copyto(out, x)
        cornerturn.transpose(other, out=out)
        for wrong in ((0, 0), (0,), 3):
            try:
                cornerturn.transpose(x, wrong)
            except (ValueError, TypeError):
                pass

    for _ in range(100):
        work()
    gc.collect()
    before, blocks = [sys.getrefcount(each) for each in held], sys.getallocatedblocks()
    for _ in range(100_000):
        work()
    gc.collect()
    assert [sys.getrefcount(each) for each in held] == before
    assert sys.getallocatedblocks() - blocks < 2000  # Python itself allocates a few


def test_other_threads_run_during_a_call():
    x, stop, counted = numpy.zeros((6000, 6000), "f4"), threading.Event(), [0]

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.0001)

    counter = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(100)  # the interpreter does not switch threads, so the call must release it
    try:
        counter.start()
        seen = counted[0]
        cornerturn.transpose(x)
        assert counted[0] > seen
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        counter.join()


def test_many_threads_call_at_once():
    x = filled(numpy.dtype("u2"), (301, 203), 4)
    wrong = []

    def work():
        for _ in range(200):
            if not same(cornerturn.transpose(x), x.T):
                wrong.append(1)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert not wrong
