"""Random strided views for Hypothesis, and comparisons of arrays by their bytes."""

import math

import numpy
from hypothesis import strategies as st

try:
    import ml_dtypes

    ML_DTYPES = [numpy.dtype(getattr(ml_dtypes, name)) for name in
                 ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "int4", "float4_e2m1fn")]
except ImportError:
    ML_DTYPES = []

DTYPES = [numpy.dtype(name) for name in
          ("?", "i1", "u1", "i2", "u2", "f2", "i4", "u4", "f4", "i8", "u8", "f8", "c8", "c16", "M8[s]", "m8[ns]", "S3", "U2",
           "V5", ">f4", ">i8")]
DTYPES += [numpy.dtype([("a", "u1"), ("b", "f4")]), numpy.dtype([("a", "u1"), ("b", "f8")], align=True),
           numpy.dtype([("xyz", "f4", (3,))])]
# Records with bytes that belong to no field: some fields of a larger record, offsets, padding, nested records.
RECORD = numpy.dtype([("a", "i4"), ("b", "i4"), ("c", "i4"), ("d", "u1"), ("e", "u1")])
WITH_HOLES = [RECORD[["a", "c"]], RECORD[["e", "b"]], numpy.dtype([("a", "u1"), ("b", "f4")], align=True),
              numpy.dtype({"names": ["a", "b"], "formats": ["i4", "u2"], "offsets": [1, 3], "itemsize": 9}),
              numpy.dtype([("n", numpy.dtype([("a", "u1"), ("b", "u2", (2,))], align=True), (2, 3)), ("t", ">u2")]),
              numpy.dtype([("n", numpy.dtype([("a", "u1"), ("b", RECORD[["a", "c", "e"]], (2,))], align=True), (2,))])]
DTYPES += WITH_HOLES


def filled(dtype, shape, seed):
    """An array of random bytes, so that every element differs from its neighbours."""
    raw = numpy.random.default_rng(seed).integers(0, 256, (math.prod(shape), max(dtype.itemsize, 1)), numpy.uint8)
    if dtype == bool:
        raw &= 1
    return raw.view(numpy.uint8).reshape(-1)[: math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)


@st.composite
def views(draw, dtypes=tuple(DTYPES + ML_DTYPES), most_axes=6, most_elements=6000):
    """A view with random extents, steps of any sign, permuted axes, repeated axes and an offset in bytes."""
    dtype = draw(st.sampled_from(dtypes))
    shape, room = [], most_elements
    for _ in range(draw(st.integers(0, most_axes))):
        shape.append(draw(st.integers(0, min(room, 70)) if draw(st.integers(0, 19)) == 0 else st.integers(1, min(room, 70))))
        room = max(1, room // max(1, shape[-1]))
    steps = [draw(st.sampled_from((1, 1, 1, 2, 3, -1, -2))) for _ in shape]
    whole = [max(1, extent * abs(step)) for extent, step in zip(shape, steps)]
    while math.prod(whole) > 8 * most_elements:
        largest = max(range(len(whole)), key=lambda i: abs(steps[i]) * 1000 + whole[i])
        steps[largest] = 1
        whole[largest] = max(1, shape[largest])
    offset = draw(st.integers(0, 7)) if draw(st.booleans()) else 0
    memory = filled(dtype, [math.prod(whole)], draw(st.integers(0, 2**32 - 1)))
    if offset:
        raw = numpy.empty(memory.nbytes + offset, numpy.uint8)
        raw[offset:] = memory.view(numpy.uint8) if memory.nbytes else 0
        memory = raw[offset:].view(dtype)
    x = memory.reshape(whole)[(..., *(slice(None, None, step) for step in steps))]
    x = x[(..., *(slice(0, extent) for extent in shape))]
    if shape:
        x = x.transpose(draw(st.permutations(range(len(shape)))))
        if draw(st.integers(0, 5)) == 0:
            repeated = draw(st.integers(0, x.ndim - 1))
            if x.shape[repeated] > 0:
                x = numpy.broadcast_to(numpy.take(x, [0], repeated), x.shape)
    return x


@st.composite
def views_and_axes(draw, **options):
    x = draw(views(**options))
    axes = draw(st.permutations(range(x.ndim)))
    return x, tuple(axis - x.ndim if draw(st.booleans()) else axis for axis in axes)


def raw(x):
    """The bytes of the elements, in order. numpy's tobytes() would omit the bytes between a record's fields."""
    return (x.view(f"V{x.dtype.itemsize}") if x.dtype.names else x).tobytes()


def owned(dtype):
    """For each byte of an element, whether it belongs to the value or to a field."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return numpy.tile(owned(base), math.prod(shape))
    mask = numpy.full(dtype.itemsize, dtype.names is None)
    for field, offset, *_ in (dtype.fields[name] for name in dtype.names or ()):
        mask[offset : offset + field.itemsize] |= owned(field)
    return mask


def put(to, x):
    """Like numpy.copyto, but never writes the padding of aligned records. numpy.copyto writes it since version 2.5."""
    if to.dtype.names is None:
        return numpy.copyto(to, x)
    whole = f"V{to.dtype.itemsize}"
    new, old = (numpy.array(bytearray(raw(its)), numpy.uint8).reshape(-1, to.dtype.itemsize) for its in (numpy.broadcast_to(x, to.shape), to))
    to.view(whole)[...] = numpy.where(owned(to.dtype), new, old).reshape(-1).view(whole).reshape(to.shape)


def clean(x):
    """A copy with 0 in all bytes that belong to no field."""
    result = numpy.zeros(x.shape, x.dtype)
    put(result, x)
    return result


def same(a, b):
    """Whether the arrays are equal bit for bit, except for bytes that belong to no field."""
    return a.shape == b.shape and a.dtype == b.dtype and raw(clean(a)) == raw(clean(b))
