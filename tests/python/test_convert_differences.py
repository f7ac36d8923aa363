"""The table of docs/convert.md that says where others convert differently: each row against the libraries that are here."""

import importlib.util
import math
import pathlib
import re

import numpy
import pytest

ml_dtypes = pytest.importorskip("ml_dtypes")

import cornerturn
from conftest import SEED
from conversions import DTYPES

PAGE = pathlib.Path(__file__).parents[2] / "docs/convert.md"
torch = importlib.util.find_spec("torch") and importlib.import_module("torch")
TORCH_NAMES = {"u8": "uint8", "i8": "int8", "i32": "int32", "i64": "int64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
               "e4m3fn": "float8_e4m3fn", "e5m2": "float8_e5m2"}
UNDEFINED = object()


def others(value, of, to):
    """What numpy and PyTorch make of a number."""
    with numpy.errstate(all="ignore"):
        numpys = numpy.array([value], DTYPES[of]).astype(DTYPES[to])[0]
    torchs = torch and torch.tensor([value], dtype=getattr(torch, TORCH_NAMES[of])).to(getattr(torch, TORCH_NAMES[to]))[0].item()
    return float(numpys), torchs


def equal(a, b):
    return math.isnan(a) if math.isnan(b) else a == b


def converts(value, of, to, ours, numpys, torchs=None, unsaturated=None):
    """A row of one number. `torchs`: one of these; without it, what numpy makes. unsaturated: with saturate=False."""
    x = numpy.array([value], DTYPES[of])
    assert float(cornerturn.convert(x, to)[0]) == ours
    of_numpy, of_torch = others(value, of, to)
    torchs = numpys if torchs is None else torchs
    assert numpys is UNDEFINED or equal(of_numpy, numpys)
    if torch and torchs is not UNDEFINED:
        assert any(equal(of_torch, each) for each in (torchs if isinstance(torchs, tuple) else (torchs,)))
    if unsaturated is not None:
        assert equal(float(cornerturn.convert(x, to, saturate=False)[0]), unsaturated) and equal(of_numpy, unsaturated)


def fused(of):
    """Against x * a + b of numpy and PyTorch, in the type of x: there are numbers where they differ."""
    draw = numpy.random.default_rng(1)
    x, a, b = draw.normal(1, 1, 4000).astype(DTYPES[of]), numpy.float32(1.7), numpy.float32(-0.9)
    ours = cornerturn.convert(x, of, scale=a, bias=b)
    arithmetic = DTYPES[of].type
    its = x * arithmetic(a) + arithmetic(b)
    assert (ours != its).any() and numpy.allclose(ours.astype("f4"), its.astype("f4"), rtol=1e-2, atol=1e-2)
    exact = x.astype("f8") * float(a) + float(b)  # of f32, without rounding of the product
    assert numpy.abs(ours - exact).sum() < numpy.abs(its - exact).sum()
    if torch:
        torchs = (torch.from_numpy(x) * float(a) + float(b)).numpy()
        assert (ours != torchs).any() and numpy.abs(ours - exact).sum() < numpy.abs(torchs - exact).sum()


def in_f64():
    x = numpy.array([2**24 + 1], "i4")
    assert cornerturn.convert(x, "f64", scale=1.0)[0] == 2**24 + 1 == (x * 1.0)[0]
    if torch:
        assert (torch.from_numpy(x) * 1.0).item() == 2**24


def complex_to_real():
    z = numpy.array([1 + 2j], "c8")
    with pytest.raises(TypeError):
        cornerturn.convert(z, "f32")
    with pytest.warns(numpy.exceptions.ComplexWarning if hasattr(numpy, "exceptions") else numpy.ComplexWarning):
        assert z.astype("f4")[0] == 1
    if torch:
        assert torch.from_numpy(z).to(torch.float32).item() == 1


def real_to_complex():
    x = numpy.array([1], "f4")
    with pytest.raises(TypeError):
        cornerturn.convert(x, "c64")
    assert x.astype("c8")[0] == 1
    if torch:
        assert torch.from_numpy(x).to(torch.complex64).item() == 1


def gradient():
    if torch:
        x = torch.ones(3, requires_grad=True)
        for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
            assert not cornerturn.convert(x, dtype).requires_grad and x.to(dtype).requires_grad


def name_of_a_type():
    assert cornerturn.convert(numpy.ones(1), "u8").dtype == numpy.uint8 and numpy.ones(1).astype("u8").dtype == numpy.uint64


nan, infinity = math.nan, math.inf
ROWS = {
    "2.7 to u8": lambda: converts(2.7, "f32", "u8", 3, 2, unsaturated=2),
    "300.0 to i8": lambda: converts(300.0, "f32", "i8", 127, UNDEFINED, UNDEFINED),
    "NaN to i32": lambda: converts(nan, "f32", "i32", 0, UNDEFINED, UNDEFINED),
    "i32 300 to u8": lambda: converts(300, "i32", "u8", 255, 44, unsaturated=44),
    "1000 to e4m3fn": lambda: converts(1000, "f32", "e4m3fn", 448, nan, (nan, 448), unsaturated=nan),
    "infinity to e4m3fn": lambda: converts(infinity, "f32", "e4m3fn", 448, nan, (nan, 448), unsaturated=nan),
    "10^6 to e5m2": lambda: converts(1e6, "f32", "e5m2", 57344, infinity, unsaturated=infinity),
    "infinity to e5m2": lambda: converts(infinity, "f32", "e5m2", 57344, infinity, unsaturated=infinity),
    "f64 1 + 2^-8 + 2^-40 to bf16": lambda: converts(1 + 2**-8 + 2**-40, "f64", "bf16", 1 + 2**-7, 1),
    "f64 1 + 2^-11 + 2^-40 to f16": lambda: converts(1 + 2**-11 + 2**-40, "f64", "f16", 1 + 2**-10, 1 + 2**-10, 1),
    "f64 1 + 2^-4 + 2^-40 to e4m3fn": lambda: converts(1 + 2**-4 + 2**-40, "f64", "e4m3fn", 1 + 2**-3, 1),
    "i64 2^32 + 2^24 + 1 to bf16": lambda: converts(2**32 + 2**24 + 1, "i64", "bf16", 2**32 + 2**25, 2**32),
    "f32 times a plus b": lambda: fused("f32"),
    "f16 times a plus b": lambda: fused("f16"),
    "i32 times a number to f64": in_f64,
    "complex to real": complex_to_real,
    "real to complex": real_to_complex,
    "gradient of f32 to fp8": gradient,
    'the name `"u8"`': name_of_a_type,
}


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.filterwarnings("ignore:Casting complex values to real:UserWarning")  # PyTorch's
def test_row(row):
    ROWS[row]()


def test_the_page_has_these_rows():
    table = PAGE.read_text().partition("## Where others differ")[2]
    assert re.findall(r"^\| (.+?) \|", table, re.M)[1:] == list(ROWS)


# ---- Everywhere else, all agree ----

WIDE = ("f64", "i64", "u64", "i32", "u32")  # types with numbers that f32 does not have
NARROW = ("f16", "bf16", "e4m3fn", "e5m2")


def patterns(of):
    """All patterns of a type of 16 bits or fewer, or random ones."""
    dtype = DTYPES[of]
    if of == "bool":
        return numpy.array([False, True])
    if dtype.itemsize <= 2:
        return numpy.arange(1 << 8 * dtype.itemsize).astype(f"u{dtype.itemsize}").view(dtype)
    draw = numpy.random.default_rng(SEED)
    x = draw.integers(0, 256, 8 * 20_000, numpy.uint8).view(dtype)
    small = draw.integers(-300, 300, 2000)
    with numpy.errstate(all="ignore"):
        return numpy.concatenate([x, small.astype(dtype), (small / 8).astype(dtype)])


def same(a, b):
    """Equal values and signs. NaN has no bits in particular."""
    a, b = (its if its.dtype.kind in "iub" else its.astype("f8") for its in (a, b))
    if a.dtype.kind != "f":
        return numpy.array_equal(a, b)
    return numpy.array_equal(a, b, equal_nan=True) and (numpy.signbit(a) == numpy.signbit(b))[~numpy.isnan(a)].all()


@pytest.mark.filterwarnings("ignore:.*encountered in cast:RuntimeWarning")  # numpy's, of NaN and infinities
@pytest.mark.parametrize("of", DTYPES)
@pytest.mark.parametrize("to", DTYPES)
def test_others_agree(of, to):
    x = patterns(of)
    if DTYPES[of].kind not in "iub" and DTYPES[to].kind in "iu":  # floats out of range give any value
        wide, limits = x.astype("f8"), numpy.iinfo(DTYPES[to])
        with numpy.errstate(all="ignore"):
            x = x[(numpy.trunc(wide) >= float(limits.min)) & (numpy.trunc(wide) < float(limits.max))]
    ours = cornerturn.convert(x, to, saturate=False)
    if not (of in WIDE and to in NARROW and to != "f16"):
        with numpy.errstate(all="ignore"):
            assert same(ours, x.astype(DTYPES[to]))
    if torch and not (of in WIDE and to in NARROW) and of not in ("u16", "u32", "u64") and to not in ("u16", "u32", "u64"):
        names = {"bool": "bool", "i16": "int16", **TORCH_NAMES}
        source = torch.from_numpy(x.view(f"u{x.itemsize}") if x.dtype.kind == "V" or "float8" in x.dtype.name else x).view(getattr(torch, names[of]))
        theirs = source.to(getattr(torch, names[to]))
        if to in ("e4m3fn", "e5m2"):
            theirs = theirs.view(torch.uint8).numpy().view(DTYPES[to])
        elif to == "bf16":
            theirs = theirs.view(torch.int16).numpy().view(DTYPES[to])
        else:
            theirs = theirs.numpy()
        inside = numpy.abs(x.astype("f8")) <= 448 if to == "e4m3fn" else numpy.full(x.shape, True)
        assert same(ours[inside], theirs[inside])
