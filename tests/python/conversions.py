"""What a conversion must make of a value, in exact rational arithmetic: no numpy, ml_dtypes or PyTorch rounds here."""

import math
from fractions import Fraction

import numpy

import ml_dtypes

# The names of the element types, and numpy's dtypes of them.
DTYPES = {"bool": "?", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8",
          "f16": "f2", "bf16": ml_dtypes.bfloat16, "f32": "f4", "f64": "f8", "e4m3fn": ml_dtypes.float8_e4m3fn,
          "e5m2": ml_dtypes.float8_e5m2}
DTYPES = {name: numpy.dtype(dtype) for name, dtype in DTYPES.items()}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
COMPLEX = {"c64": numpy.dtype("c8"), "c128": numpy.dtype("c16")}
# Bits of the significand, the least exponent, the largest number, and whether there are infinities.
FLOATS = {"f16": (11, -14, 65504, True), "bf16": (8, -126, (2 - 2**-7) * 2.0**127, True),
          "f32": (24, -126, (2 - 2**-23) * 2.0**127, True), "f64": (53, -1022, (2 - 2**-52) * 2.0**1023, True),
          "e4m3fn": (4, -6, 448, False), "e5m2": (3, -14, 57344, True)}
FP8 = ("e4m3fn", "e5m2")
IN_F64 = ("f64", "u32", "i32", "u64", "i64")  # such a side has the arithmetic done in f64
ANY = object()  # any value is right

# Values near which conversions go wrong: ties, limits, subnormal numbers, and what is no number.
NEAR = [0.0, 0.5, 1.0, 1.5, 2.5, 127.5, 128.5, 254.5, 255.5, 256, 448, 464, 465, 480, 57344, 61440, 65504, 65520, 65535.5, 32767.5,
        2.0**-6, 2.0**-9, 2.0**-10, 2.0**-14, 2.0**-16, 2.0**-17, 2.0**-24, 2.0**-25, 2.0**31, 2.0**32, 2.0**63, 2.0**64,
        3.4e38, 1e-40, 1e300, math.inf, math.nan, 1 + 2**-8 + 2**-40, 1 + 2**-11 + 2**-40, 1 + 2**-4 + 2**-30]


def rounded(value, name, negative, saturates):
    """The nearest number of a float type, ties to even, of a Fraction or of a float that may be infinite or NaN."""
    digits, least, most, has_infinities = FLOATS[name]
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return math.nan
        magnitude = None
    else:
        magnitude = abs(Fraction(value))
    if magnitude is not None and magnitude > 0:
        exponent = max(magnitude.numerator.bit_length() - magnitude.denominator.bit_length(), least)
        while exponent > least and magnitude < Fraction(2) ** exponent:
            exponent -= 1
        step = Fraction(2) ** (exponent - digits + 1)
        magnitude = round(magnitude / step) * step  # Python rounds ties to even
    if magnitude is None or magnitude > Fraction(most):
        if saturates and name in FP8:
            magnitude = Fraction(most)
        elif not has_infinities:
            return math.nan
        else:
            return -math.inf if negative else math.inf
    return -float(magnitude) if negative else float(magnitude)


def is_negative(value):
    return math.copysign(1, value) < 0 if isinstance(value, float) else value < 0


def fused(a, b, c, name):
    """a * b + c, rounded once to f32 or f64. c None: none is added."""
    if not all(math.isfinite(each) for each in (a, b, c or 0)):
        return a * b + (0 if c is None else c)
    product_negative = is_negative(float(a)) != is_negative(float(b))
    exact = Fraction(a) * Fraction(b) + Fraction(c or 0)
    if exact == 0:
        was_zero = a == 0 or b == 0
        negative = was_zero and product_negative and (c is None or is_negative(float(c)))
        return -0.0 if negative else 0.0
    return rounded(exact, name, exact < 0, False)


def cast(value, to, saturates, whole):
    """A value in another type. `whole`: it was an integer or a bool, and was not scaled."""
    if to == "bool":
        return value != 0
    if to in FLOATS:
        return rounded(value, to, is_negative(value), saturates)
    limits = numpy.iinfo(DTYPES[to])
    if saturates:
        if isinstance(value, float) and not math.isfinite(value):
            return 0 if math.isnan(value) else limits.max if value > 0 else limits.min
        return min(max(round(Fraction(value)), int(limits.min)), int(limits.max))
    if whole:
        return (value - int(limits.min)) % (1 << limits.bits) + int(limits.min)  # wraps
    if not math.isfinite(value) or not int(limits.min) <= int(value) <= int(limits.max):
        return ANY
    return int(value)


def converted(value, of, to, saturates=True, scale=None, bias=None):
    """The element of type `to` that a conversion makes of an element of type `of`."""
    whole = of == "bool" or DTYPES[of].kind in "iu"
    value = int(value) if whole else float(value)
    if scale is None and bias is None:
        return cast(value, to, saturates, whole)
    name = "f64" if of in IN_F64 or to in IN_F64 else "f32"
    x, a, b = (each if each is None else rounded(each, name, is_negative(each), False)
               for each in (value, 1.0 if scale is None else float(scale), None if bias is None else float(bias)))
    return cast(fused(x, a, b, name), to, saturates, False)


def along(factor, axis, shape, i):
    """The number of a scale or bias for the element of index i of the result."""
    if factor is None or numpy.ndim(factor) == 0:
        return factor
    return factor[0] if len(factor) == 1 else factor[i[axis]]


def check(result, x, axes=None, scale=None, bias=None, axis=None, saturate=True):
    """Compares a converted array with its source, element by element. Both are numpy's."""
    source = x if axes is None else x.transpose(axes)
    assert result.shape == source.shape
    if source.dtype in COMPLEX.values():
        assert result.dtype in COMPLEX.values()
        for part in ("real", "imag"):
            check(getattr(result, part), getattr(source, part), None, scale, bias, axis, saturate)
        return
    of, to = NAMES[source.dtype], NAMES[result.dtype]
    if of == to and scale is None and bias is None:
        assert numpy.ascontiguousarray(source).tobytes() == numpy.ascontiguousarray(result).tobytes()
        return
    known = {}
    for i in numpy.ndindex(source.shape):
        its = along(scale, axis, source.shape, i), along(bias, axis, source.shape, i)
        key = source[i].tobytes(), repr(its)  # 0.0 == -0.0
        if key not in known:
            known[key] = converted(source[i], of, to, saturate, *its)
        expected, got = known[key], result[i]
        if expected is ANY:
            continue
        # Infinities and NaN have no bits in particular here: NaN may have any.
        if to in FLOATS:
            got = float(got)
            right = math.isnan(got) if math.isnan(expected) else got == expected and is_negative(got) == is_negative(expected)
        else:
            right = int(got) == int(expected)
        assert right, f"{of} {source[i]!r} at {i} became {to} {result[i]!r}, not {expected!r}; scale and bias {its}, saturate {saturate}"
