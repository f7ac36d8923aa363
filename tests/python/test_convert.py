"""Compares cornerturn.convert on numpy's arrays with exact arithmetic, and with numpy and ml_dtypes where they agree."""

import decimal
import fractions
import gc
import math
import sys

import hypothesis
import numpy
import pytest
from hypothesis import strategies as st
from refusals import refused
from views import filled, raw, views_and_axes

ml_dtypes = pytest.importorskip("ml_dtypes")

import cornerturn
from conversions import COMPLEX, DTYPES, NEAR, check

ALL = {**DTYPES, **COMPLEX}
names = st.sampled_from(list(DTYPES))
threads = st.sampled_from((None, 1, 2, 3))
numbers = st.one_of(st.none(), st.sampled_from((1.0, 1 / 255, -0.5, 2.0**20, 0.0, 3.1, 1e-30, math.nan)), st.floats(width=32))


@st.composite
def sources(draw, of):
    """A view of random bytes, or of values near which conversions go wrong."""
    x, axes = draw(views_and_axes(dtypes=(of,), most_axes=4, most_elements=300))
    if draw(st.booleans()) and x.flags.writeable and of not in COMPLEX.values():
        values = numpy.array(draw(st.lists(st.sampled_from(NEAR), min_size=1, max_size=40)) * x.size)[: x.size].reshape(x.shape)
        values = values * numpy.random.default_rng(draw(st.integers(0, 99))).choice([1, -1], x.shape)
        with numpy.errstate(all="ignore"):
            x[...] = values.astype(of)
    return x, axes


@st.composite
def factors(draw, count, none=False):
    """A number, or one for each index of an axis: a list, or an array of f32 or f64, with strides."""
    kind = "none" if none else draw(st.sampled_from(("none", "number", "list", "f4", "f8")))
    if kind == "none":
        return None
    if kind == "number":
        return draw(numbers)
    its = [draw(numbers) or 0.0 for _ in range(draw(st.sampled_from((1, count))))]
    if kind == "list":
        return its
    with numpy.errstate(all="ignore"):
        array = numpy.array(its, kind)
    step = draw(st.sampled_from((1, 1, 2, -1)))
    return numpy.repeat(array, abs(step))[:: step][::-1] if step < 0 else numpy.repeat(array, step)[::step]


@hypothesis.settings(max_examples=600)
@hypothesis.given(st.data(), names, names, st.booleans(), threads)
def test_values(data, of, to, saturate, threads):
    x, axes = data.draw(sources(DTYPES[of]))
    before = raw(x)
    for dtype in (to, DTYPES[to]):
        result = cornerturn.convert(x, dtype, axes, saturate=saturate, threads=threads)
        assert type(result) is numpy.ndarray and result.flags.c_contiguous and result.flags.owndata
        assert result.dtype == DTYPES[to]
        check(result, x, axes, saturate=saturate)
    assert raw(x) == before


@hypothesis.settings(max_examples=600)
@hypothesis.given(st.data(), names, names, st.booleans(), threads)
def test_scale_and_bias(data, of, to, saturate, threads):
    x, axes = data.draw(sources(DTYPES[of]))
    axis = data.draw(st.integers(0, x.ndim - 1)) if x.ndim else None
    extent = x.shape[axes[axis]] if x.ndim else 1
    scale, bias = data.draw(factors(extent)), data.draw(factors(extent))
    given = axis if axis is None or data.draw(st.booleans()) else axis - x.ndim
    result = cornerturn.convert(x, to, axes, scale=scale, bias=bias, axis=given, saturate=saturate, threads=threads)
    check(result, x, axes, scale, bias, axis, saturate)


@hypothesis.given(st.data(), st.sampled_from(list(COMPLEX)), st.sampled_from(list(COMPLEX)))
def test_complex(data, of, to):
    x, axes = data.draw(sources(COMPLEX[of]))
    with numpy.errstate(all="ignore"):
        expected = x.transpose(axes).astype(COMPLEX[to])
    result = cornerturn.convert(x, to, axes)
    assert result.dtype == expected.dtype and numpy.array_equal(result, expected, equal_nan=True)
    if x.ndim:
        scale = data.draw(factors(x.shape[axes[0]]))
        check(cornerturn.convert(x, to, axes, scale=scale, axis=0), x, axes, scale, None, 0)


@hypothesis.settings(max_examples=200)
@hypothesis.given(st.data(), names, names)
def test_out_keeps_the_bytes_between_its_elements(data, of, to):
    x, axes = data.draw(sources(DTYPES[of]))
    expected = cornerturn.convert(x, to, axes)
    steps = [data.draw(st.sampled_from((1, 1, 2, -1, -3))) for _ in expected.shape]
    whole = [max(1, extent * abs(step)) for extent, step in zip(expected.shape, steps)]
    memory, untouched = filled(DTYPES[to], whole, 7), filled(DTYPES[to], whole, 7)
    cut = (..., *(slice(None, None, step) for step in steps)), (..., *(slice(0, extent) for extent in expected.shape))
    out = memory[cut[0]][cut[1]]
    assert cornerturn.convert(x, to, axes, out=out) is out and raw(out) == raw(expected)
    untouched[cut[0]][cut[1]].view(f"V{DTYPES[to].itemsize}")[...] = expected.view(f"V{DTYPES[to].itemsize}")
    assert raw(memory) == raw(untouched)


# 16-bit types have few enough values for all of them, and 8-bit types too.
@pytest.mark.parametrize("of", [name for name, dtype in DTYPES.items() if dtype.itemsize <= 2 and name != "bool"])
@pytest.mark.parametrize("to", list(DTYPES))
def test_all_patterns(of, to):
    x = numpy.arange(1 << 8 * DTYPES[of].itemsize).astype(f"u{DTYPES[of].itemsize}").view(DTYPES[of])
    for saturate in (True, False):
        result = cornerturn.convert(x, to, saturate=saturate)
        step = 1 if x.size < 1000 else 7  # exact arithmetic takes long: all values are compared with numpy below
        check(result[::step], x[::step], saturate=saturate)
    with numpy.errstate(all="ignore"):
        wide = x.astype("f8") if of not in ("i16", "u16", "i8", "u8") else x.astype("i8")
        if to in ("f64", "f32"):  # exact, so that everyone agrees
            assert numpy.array_equal(result, wide.astype(DTYPES[to]), equal_nan=True)
        if to == "bool":
            assert numpy.array_equal(result, wide != 0)


@pytest.mark.parametrize("of, to, shape, axes", [("u8", "f32", (2, 120, 130, 3), (0, 3, 1, 2)), ("f32", "bf16", (700, 901), (1, 0)),
                                                 ("bf16", "e4m3fn", (513, 1025), (1, 0)), ("f32", "f64", (31, 29, 200), (2, 0, 1)),
                                                 ("i64", "i32", (100003,), (0,)), ("f16", "f32", (3, 70001), (1, 0))])
def test_large(of, to, shape, axes):
    x = filled(DTYPES[of], shape, 3)
    result = cornerturn.convert(x, to, axes)
    # Parts of it, exactly. All of it against the same conversion of packed and flat memory, which is another method.
    cut = tuple(slice(0, 40, 3) for _ in axes)
    check(result[cut], x.transpose(axes)[cut])
    flat = cornerturn.convert(numpy.ascontiguousarray(x.transpose(axes)).reshape(-1), to, threads=1)
    with numpy.errstate(all="ignore"):
        packed, flat = ((its.astype("f8") if DTYPES[to].kind not in "iu" else its) for its in (result.reshape(-1), flat))
    assert numpy.array_equal(packed, flat, equal_nan=True)  # NaN has no bits in particular


def test_images():
    images = filled(numpy.dtype("u1"), (3, 50, 61, 3), 1)
    mean, deviation = numpy.array([0.485, 0.456, 0.406]), numpy.array([0.229, 0.224, 0.225])
    expected = ((images / 255 - mean) / deviation).transpose(0, 3, 1, 2)
    for kind in (numpy.float32, numpy.float64, list):
        scale, bias = ((list(its) if kind is list else its.astype(kind)) for its in (1 / 255 / deviation, -mean / deviation))
        for dtype, error in (("f32", 1e-6), ("f16", 2e-3)):
            planes = cornerturn.convert(images, dtype, (0, 3, 1, 2), scale=scale, bias=bias, axis=1)
            assert numpy.abs(planes.astype("f8") - expected).max() <= error


def test_names_of_types():
    x = numpy.array([1.0, 2.0], "f4")
    spelled = {"f16": [numpy.float16, "float16", numpy.dtype("f2")], "bf16": [ml_dtypes.bfloat16, "bfloat16"],
               "e4m3fn": [ml_dtypes.float8_e4m3fn, "float8_e4m3fn"], "u8": [numpy.uint8, "uint8"], "i64": [int, "int64", numpy.int64],
               "f64": [float, "float64"], "bool": [bool, numpy.bool_, "bool"]}
    for name, same in spelled.items():
        for dtype in [name, *same]:
            assert cornerturn.convert(x, dtype).dtype == DTYPES[name]
    z = numpy.array([1j], "c8")
    for dtype in ("c128", complex, "complex128", numpy.complex128):
        assert cornerturn.convert(z, dtype).dtype == numpy.dtype("c16")
    for wrong in ("f4", "half", "e4m3", "", None, 3, [], numpy.dtype(">f4"), numpy.dtype("M8[s]"), numpy.longdouble, "float8_e4m3fnuz",
                  numpy.dtype([("a", "f4")]), ml_dtypes.float8_e4m3fnuz, ml_dtypes.int4, object()):
        refused(TypeError, ["dtype", "e4m3fn"], cornerturn.convert, x, wrong)


def test_numbers():
    x = numpy.array([1, 2], "u1")
    for half in (0.5, numpy.float32(0.5), numpy.float64(0.5), numpy.array(0.5), numpy.array([0.5], "f4"), [0.5], (0.5,),
                 fractions.Fraction(1, 2), decimal.Decimal("0.5"), ml_dtypes.bfloat16(0.5)):
        assert cornerturn.convert(x, "f32", scale=half).tolist() == [0.5, 1.0]
        assert cornerturn.convert(x, "f32", bias=half).tolist() == [1.5, 2.5]
    assert cornerturn.convert(x, "f32", scale=True, bias=numpy.int64(-1)).tolist() == [0.0, 1.0]
    # The arithmetic is f64 if either side is: then f64 numbers keep all their digits.
    third = 1 / 3
    assert cornerturn.convert(x, "f64", scale=[third, third], axis=0).tolist() == [third, 2 * third]
    assert cornerturn.convert(x, "f32", scale=[third, third], axis=0).tolist() == [numpy.float32(third), numpy.float32(2 * third)]
    read_only = numpy.array([2.0, 3.0])
    read_only.flags.writeable = False
    assert cornerturn.convert(x, "u8", scale=read_only, axis=0).tolist() == [2, 6]
    unaligned = numpy.frombuffer(b"\0" + numpy.array([2.0, 3.0]).tobytes(), "f8", offset=1)
    assert cornerturn.convert(x, "u8", scale=unaligned, axis=0).tolist() == [2, 6]


def test_where_it_lies():
    x = filled(numpy.dtype("f4"), (30, 41), 1)
    expected, out = cornerturn.convert(x, "i32"), x.view("i4")
    assert cornerturn.convert(x, "i32", out=out) is out and raw(out) == raw(expected)
    y = numpy.arange(12, dtype="f4").reshape(3, 4)
    assert cornerturn.convert(y, "f32", scale=2, out=y) is y and (y == 2 * numpy.arange(12).reshape(3, 4)).all()
    before = raw(y)
    for call in (lambda: cornerturn.convert(y[:2], "f32", scale=2, out=y[1:]),
                 lambda: cornerturn.convert(y[:, :3].T, "f32", scale=2, out=y[:, :3]),
                 lambda: cornerturn.convert(y, "f16", out=y.view("f2")[:, :4])):
        with pytest.raises(ValueError):
            call()
    assert raw(y) == before


def test_strides_that_are_no_multiples_of_the_element_size():
    records = filled(numpy.dtype([("a", "u1"), ("b", "f8"), ("c", "i2")]), (20, 30), 5)
    for name, to in (("b", "f32"), ("c", "f64"), ("b", "i16")):
        check(cornerturn.convert(records[name], to, (1, 0)), records[name], (1, 0))
    out = records.copy()
    assert cornerturn.convert(records["c"], "f64", out=out["b"]) is not None
    check(numpy.ascontiguousarray(out["b"]), records["c"])
    assert out["a"].tobytes() == records["a"].tobytes() and out["c"].tobytes() == records["c"].tobytes()


def test_no_elements_and_many_axes():
    for shape in ((0,), (3, 0, 4), (0, 0)):
        axes = tuple(reversed(range(len(shape))))
        result = cornerturn.convert(numpy.zeros(shape, "f4"), "bf16", axes, scale=2.0, bias=[1.0])
        assert result.shape == shape[::-1] and result.dtype == DTYPES["bf16"]
    assert cornerturn.convert(numpy.zeros((0, 3), "f4"), "u8", scale=[1, 2, 3], axis=1).shape == (0, 3)
    assert cornerturn.convert(numpy.zeros((0, 3), "f4"), "u8", scale=[], axis=0).shape == (0, 3)
    refused(ValueError, ["scale", 2, 3], cornerturn.convert, numpy.zeros((0, 3), "f4"), "u8", scale=[1, 2], axis=1)
    assert cornerturn.convert(numpy.array(2.7, "f4"), "i8", scale=2).tolist() == 5
    x = numpy.arange(2.0**10).reshape((2,) * 10 + (1,) * 22)
    assert (cornerturn.convert(x, "f32", tuple(range(31, -1, -1))) == x.T).all()


def test_refusals():
    x = numpy.ones((3, 4), "f4")
    convert = cornerturn.convert
    refused(ValueError, ["axes", 1, "x", 2], convert, x, "f16", (0,))
    refused(ValueError, ["axes[1]", 2, "x", 2], convert, x, "f16", (0, 2))
    refused(TypeError, ["dtype", "c64", "x", "float32"], convert, x, "c64")
    refused(TypeError, ["dtype", "f32", "x", "complex64"], convert, x.astype("c8"), "f32")
    for wrong in ("M8[s]", "S3", ">f4", "V5", ml_dtypes.float8_e8m0fnu, ml_dtypes.int4, numpy.longdouble, [("a", "f4")]):
        refused(TypeError, ["x", "e4m3fn"], convert, numpy.zeros(3, wrong), "f32")
    refused(TypeError, ["x", "list", "__dlpack__"], convert, [1.0], "f32")
    for name in ("scale", "bias"):
        refused(ValueError, ["axis", "None", 3, name], convert, x, "f16", **{name: [1, 2, 3]})
        refused(ValueError, [name, 3, 4], convert, x, "f16", **{name: [1, 2, 3]}, axis=1)
        refused(ValueError, [name, 4, 3], convert, x, "f16", (1, 0), **{name: numpy.ones(4)}, axis=1)
        refused(ValueError, [name, 0, 3], convert, x, "f16", **{name: numpy.ones(0)}, axis=0)
        refused(ValueError, [name, 2], convert, x, "f16", **{name: numpy.ones((3, 1))}, axis=0)
        for wrong in ("f2", "i4", "u1", "?", "c8", ">f4", ml_dtypes.bfloat16):
            refused(TypeError, [name, "float32", "float64"], convert, x, "f16", **{name: numpy.ones(3, wrong)}, axis=0)
        for wrong in ("1.5", b"1", 1j, object(), ["a"], [[1.0]], [None], {1.0}):
            refused(TypeError, [name], convert, x, "f16", **{name: wrong}, axis=0)
        refused(ValueError, [name, "float64"], convert, x, "f16", **{name: 10**400})
        refused(TypeError, [name, "MaskedArray"], convert, x, "f16", **{name: numpy.ma.masked_array([1.0, 2.0, 3.0])}, axis=0)
    refused(ValueError, ["bias", "x"], convert, x.astype("c8"), "c64", bias=1.0)
    for wrong in (2, -3, 2**70):
        refused(ValueError, ["axis", wrong, 2, -2, 1], convert, x, "f16", axis=wrong)
    refused(ValueError, ["axis", 0], convert, numpy.array(1.0), "f16", axis=0)
    refused(TypeError, ["float"], convert, x, "f16", axis=0.0)
    refused(ValueError, ["out", "(3, 4)", "(4, 3)"], convert, x, "f16", (1, 0), out=numpy.zeros((3, 4), "f2"))
    refused(TypeError, ["out", "float32", "f16"], convert, x, "f16", out=x.copy())
    locked = numpy.zeros((3, 4), "f2")
    locked.flags.writeable = False
    refused(ValueError, ["out"], convert, x, "f16", out=locked)
    repeated = numpy.lib.stride_tricks.as_strided(numpy.zeros(9, "f2"), (3, 4), (2, 2))
    refused(ValueError, ["destination"], convert, x, "f16", out=repeated)
    assert not repeated.any()
    refused(ValueError, ["threads", 0, 1], convert, x, "f16", threads=0)
    refused(ValueError, ["stream"], convert, x, "f16", stream=0)
    refused(TypeError, [], convert, x, "f16", saturate=None)
    refused(TypeError, [], convert, x)


def test_out_is_not_written_before_a_refusal():
    x, out = numpy.ones((3, 4), "f4"), numpy.full((3, 4), 7, "f2")
    for wrong in ({"scale": [1, 2]}, {"scale": numpy.ones(3), "axis": 1}, {"axis": 5}, {"bias": "1"}, {"threads": 0}, {"axes": (0, 0)}):
        with pytest.raises((ValueError, TypeError)):
            cornerturn.convert(x, "f16", out=out, **wrong)
    assert (out == 7).all()


def test_a_missing_ml_dtypes():
    """bf16 and fp8 need ml_dtypes in numpy. All else works without it."""
    from test_package import python

    python("""
import sys
sys.modules["ml_dtypes"] = None  # an import of it fails
import numpy, cornerturn
assert (cornerturn.convert(numpy.ones(3, "f4"), "f16") == 1).all()
try:
    cornerturn.convert(numpy.ones(3, "f4"), "bf16")
except RuntimeError as error:
    assert "ml_dtypes" in str(error), error
else:
    assert False
""")


class dlpack_only:
    """An array that has only DLPack's methods."""

    def __init__(self, x):
        self.x = x

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.x.__dlpack__(**options)


def test_arrays_of_other_libraries():
    x = filled(numpy.dtype("i4"), (5, 7), 9)
    out, scale = numpy.zeros((7, 5), "f4"), numpy.arange(5.0)
    assert cornerturn.convert(dlpack_only(x), "f32", (1, 0), out=out) is out
    check(out, x, (1, 0))
    target = numpy.zeros((7, 5), "f4")
    cornerturn.convert(x, "f32", (1, 0), scale=dlpack_only(scale), axis=1, out=dlpack_only(target))
    check(target, x, (1, 0), scale, None, 1)
    refused(TypeError, ["dlpack_only", "out"], cornerturn.convert, dlpack_only(x), "f32")
    refused(ValueError, ["scale", "packed"], cornerturn.convert, x, "f32", (1, 0), scale=scale[::-1], axis=1, out=dlpack_only(target))


def test_references_are_counted():
    x, out, scale, numbers = numpy.zeros((8, 8), "f4"), numpy.zeros((8, 8), "f2"), numpy.ones(8), [1.0] * 8
    strided = numpy.ones(16)[::2]
    held = [x, out, scale, numbers, strided, x.dtype, out.dtype, numpy.ndarray]

    def work():
        cornerturn.convert(x, "f16", (1, 0))
        cornerturn.convert(x, out.dtype, scale=scale, bias=numbers, axis=0)
        cornerturn.convert(x, "f16", scale=strided, axis=0, out=out)
        for wrong in ([1.0], [None], "a", numpy.ones(3)):
            try:
                cornerturn.convert(x, "f16", scale=wrong, axis=3)
            except (ValueError, TypeError):
                pass

    for _ in range(100):
        work()
    gc.collect()
    before, blocks = [sys.getrefcount(each) for each in held], sys.getallocatedblocks()
    for _ in range(20_000):
        work()
    gc.collect()
    assert [sys.getrefcount(each) for each in held] == before
    assert sys.getallocatedblocks() - blocks < 2000  # Python itself allocates a few
