"""cornerturn transpose with --dtype, --scale and --bias: compares its files with what numpy computes here, for all pairs
of types. To convert on a GPU, run the script itself with CORNERTURN_ON=cuda."""

import ast
import json
import random

import files_test
import script
from files_test import LEAST, ON, MiB, numpy

# The numpy type of the bits, and the code of a .npy file.
TYPES = {"bool": ("u1", "|b1"), "u8": ("u1", "|u1"), "u16": ("u2", "<u2"), "u32": ("u4", "<u4"), "u64": ("u8", "<u8"),
         "i8": ("i1", "|i1"), "i16": ("i2", "<i2"), "i32": ("i4", "<i4"), "i64": ("i8", "<i8"), "f16": ("u2", "<f2"),
         "bf16": ("u2", "<V2"), "f32": ("u4", "<f4"), "f64": ("u8", "<f8"), "e4m3fn": ("u1", "<V1"),
         "e5m2": ("u1", "<V1"), "c64": ("c8", "<c8"), "c128": ("c16", "<c16")}
COMPLEX = ["c64", "c128"]
REAL = [name for name in TYPES if name not in COMPLEX]
INTEGERS = [name for name in TYPES if name[0] in "ui"]
NARROW = {"f16": (5, 10), "bf16": (8, 7), "e4m3fn": (4, 3), "e5m2": (5, 2)}  # bits of the exponent and of the fraction
UNNAMED = ["bf16", "e4m3fn", "e5m2"]  # a header does not tell them


def narrow_values():
    """The values of all bit patterns of the narrow floats, by the definition of their formats."""
    tables = {}
    for name, (exponent_bits, fraction_bits) in NARROW.items():
        bits = numpy.arange(1 << (1 + exponent_bits + fraction_bits))
        exponent, fraction = bits >> fraction_bits & (1 << exponent_bits) - 1, bits & (1 << fraction_bits) - 1
        bias, last = (1 << (exponent_bits - 1)) - 1, (1 << exponent_bits) - 1
        normal = (exponent > 0) << fraction_bits
        value = numpy.ldexp((fraction + normal).astype("f8"), numpy.maximum(exponent, 1) - bias - fraction_bits)
        if name == "e4m3fn":
            value[(exponent == last) & (fraction == (1 << fraction_bits) - 1)] = numpy.nan
        else:
            value[exponent == last] = numpy.inf
            value[(exponent == last) & (fraction > 0)] = numpy.nan
        sign = numpy.where(bits >> (exponent_bits + fraction_bits), -1.0, 1.0)
        tables[name] = numpy.copysign(value, sign).astype("longdouble")
    return tables


VALUES = narrow_values()


def values_of(bits, name):
    """What the bits mean. A long double holds all values of all types."""
    if name == "bool":
        return (bits != 0).astype("longdouble")
    if name in VALUES:
        return VALUES[name][bits]
    with numpy.errstate(invalid="ignore"):  # signalling NaNs
        return bits.view({"f32": "f4", "f64": "f8"}.get(name, bits.dtype)).astype("longdouble")


def rounded(values, name, saturate):
    """The bits of the values in a narrow float: to the nearest one, ties to the even pattern."""
    table = VALUES[name][:len(VALUES[name]) // 2]
    finite = table[numpy.isfinite(table)]
    steps = numpy.append(finite, 2 * finite[-1] - finite[-2])  # what would follow the largest number
    sizes = numpy.minimum(numpy.abs(values), 2 * steps[-1])
    above = numpy.clip(numpy.searchsorted(steps, sizes), 1, len(steps) - 1)
    below = above - 1
    middle = (steps[below] + steps[above]) / 2
    bits = numpy.where((sizes > middle) | ((sizes == middle) & (above % 2 == 0)), above, below)
    fp8 = len(VALUES[name]) == 256
    bits = numpy.minimum(bits, len(finite) - 1 if fp8 and saturate else len(finite))  # infinity, or e4m3fn's NaN
    bits = numpy.where(numpy.isnan(values), len(table) - 1, bits)
    return numpy.where(numpy.signbit(values), bits + len(table), bits).astype(TYPES[name][0])


def bits_of(values, name, saturate):
    kind = numpy.dtype(TYPES[name][0])
    if name == "bool":
        return (values != 0).astype(kind)
    if name in NARROW:
        return rounded(values, name, saturate)
    if name in ("f32", "f64"):
        with numpy.errstate(over="ignore"):
            return values.astype("f4" if name == "f32" else "f8").view(kind)
    limits = numpy.iinfo(kind)
    whole = numpy.rint(values) if saturate else numpy.trunc(values)
    whole = numpy.where(numpy.isnan(values), 0, numpy.clip(whole, limits.min, limits.max))
    return whole.astype(kind)


def converted(bits, source, target, scale=None, bias=None, saturate=True):
    """The bits of the result, element by element. With a scale or a bias, nothing may be rounded before the end."""
    if scale is None and bias is None:
        if source == target:
            return bits
        if not saturate and source in INTEGERS and target in INTEGERS:
            return bits.astype(TYPES[target][0])
    values = values_of(bits, source)
    if scale is not None:
        values = values * scale
    if bias is not None:
        values = values + bias
    return bits_of(values, target, saturate)


class Case(files_test.Case):
    def draw_bits(self, draw, name, shape, small):
        """Any bits. Or bits of small multiples of 1/8, with which sums and products are exact in f32."""
        count, kind = int(numpy.prod(shape)), numpy.dtype(TYPES[name][0])
        random_numbers = numpy.random.default_rng(draw.randrange(1 << 32))
        if not small:
            return random_numbers.integers(0, 256, count * kind.itemsize, dtype="u1").view(kind)[:count].reshape(shape)
        values = random_numbers.integers(0 if name[0] == "u" else -127, 128, shape) / numpy.longdouble(8)
        return bits_of(values, name, True)

    def write(self, bits, name, in_fortran=False, big_endian=False):
        """A .npy file. numpy has no names for some of the types, so the header is written here."""
        code = TYPES[name][1].replace("<", ">") if big_endian else TYPES[name][1]
        header = {"descr": code, "fortran_order": in_fortran, "shape": bits.shape}
        path = self.folder / "in.npy"
        with open(path, "wb") as file:
            numpy.lib.format.write_array_header_1_0(file, header)
            data = numpy.asarray(bits)  # without axes, it is a number, which ignores a byte order
            data = data.astype(data.dtype.newbyteorder(">")) if big_endian else data
            file.write(data.tobytes("F" if in_fortran else "C"))
        return path

    def read(self, path, name, shape):
        """The bits. The header must be that of the type."""
        with open(path, "rb") as file:
            self.assertEqual(numpy.lib.format.read_magic(file), (1, 0))
            line = file.read(int.from_bytes(file.read(2), "little")).decode()
            header = ast.literal_eval(line)  # numpy's reader does not return the code
            self.assertEqual((header["descr"], header["shape"]), (TYPES[name][1], tuple(shape)))
            data = numpy.frombuffer(file.read(), TYPES[name][0])
        self.assertEqual(numpy.load(path).shape, tuple(shape))
        return data.reshape(shape, order="F" if header["fortran_order"] else "C")

    def expect(self, found, wanted, name, what):
        if name in COMPLEX:
            wrong = (found != wanted) & ~(numpy.isnan(found) & numpy.isnan(wanted))
        elif name[0] in "fbe" and name != "bool":
            wrong = (found != wanted) & ~(numpy.isnan(values_of(found, name)) & numpy.isnan(values_of(wanted, name)))
        else:
            wrong = found != wanted
        if wrong.any():
            at = tuple(numpy.argwhere(wrong)[0])
            self.fail(f"{what}: {wrong.sum()} wrong, the first at {at}: {found[at]!r} instead of {wanted[at]!r}")

    def convert(self, *arguments):
        return json.loads(self.succeed(*arguments, "--format", "json"))


def source_of(name):
    return ["--source-dtype", name] if name in UNNAMED else []


def listed(numbers):
    return ",".join(f"{float(number)!r}" for number in numpy.atleast_1d(numbers))


class Values(Case):
    def setUp(self):
        super().setUp()
        self.draw = random.Random(script.seed())

    def test_all_pairs(self):
        out = self.folder / "out.npy"
        for source in REAL:
            bits = self.draw_bits(self.draw, source, (37, 53), small=False)
            path = self.write(bits, source)
            for target in REAL:
                with self.subTest(source=source, target=target):
                    self.convert(path, out, "--dtype", target, *source_of(source))
                    wanted = converted(bits, source, target).T
                    self.expect(self.read(out, target, (53, 37)), wanted, target, "saturated")

    def test_without_saturation(self):
        out = self.folder / "out.npy"
        for source in REAL:
            integer = source in INTEGERS
            for target in INTEGERS + ["e4m3fn", "e5m2"]:
                # Floats beyond an integer's range give any value.
                small = not integer and target in INTEGERS
                bits = self.draw_bits(self.draw, source, (37, 53), small)
                if small and target[0] == "u":
                    bits = bits_of(numpy.abs(values_of(bits, source)), source, True)
                with self.subTest(source=source, target=target):
                    self.convert(self.write(bits, source), out, "--dtype", target, "--no-saturate", *source_of(source))
                    wanted = converted(bits, source, target, saturate=False).T
                    self.expect(self.read(out, target, (53, 37)), wanted, target, "not saturated")

    def test_complex(self):
        out = self.folder / "out.npy"
        for source in COMPLEX:
            parts = self.draw_bits(self.draw, "f32", (37, 53, 2), small=True).view("f4")
            array = (parts[..., 0] + 1j * parts[..., 1]).astype(TYPES[source][0])
            for target in COMPLEX:
                for scale in (None, -2.5):
                    for big in (False, True):
                        asked = [] if scale is None else ["--scale", scale]
                        self.convert(self.write(array, source, big_endian=big), out, "--dtype", target, *asked)
                        wanted = array.T * (1 if scale is None else scale)
                        self.expect(self.read(out, target, (53, 37)), wanted, target, "complex")

    def test_random_problems(self):
        memory, out = self.within(LEAST), self.folder / "out.npy"
        many_tiles = 0
        for _ in range(40):
            source, target = self.draw.choice(REAL), self.draw.choice(REAL)
            rank = self.draw.randrange(6)
            shape = [self.draw.choice([1, 1, 2, 3, 4, 5, 7, 8]) for _ in range(rank)]
            if rank > 0 and self.draw.random() < 0.5:  # larger than the memory
                sizes = sum(numpy.dtype(TYPES[name][0]).itemsize for name in (source, target))
                room = 14 * MiB // (int(numpy.prod(shape)) * sizes)
                shape[self.draw.randrange(rank)] *= max(1, room)
            if rank > 0 and self.draw.random() < 0.1:
                shape[self.draw.randrange(rank)] = 0
            axes = self.draw.sample(range(rank), rank)
            result = [shape[axis] for axis in axes]
            asked, numbers, axis = [], {}, self.draw.randrange(-rank, rank) if rank > 0 else 0
            for option in ("scale", "bias"):
                count = self.draw.choice([0, 0, 1, result[axis] if rank > 0 and 0 < result[axis] <= 10000 else 1])
                if count > 0:
                    drawn = numpy.array([self.draw.randrange(-64, 65) / 16 for _ in range(count)])
                    asked.append(f"--{option}={listed(drawn)}")
                    numbers[option] = drawn.reshape([count] + [1] * (rank - 1 - axis % rank)) if count > 1 else drawn[0]
            if any(numpy.size(drawn) > 1 for drawn in numbers.values()):
                asked.append(f"--scale-axis={axis}")
            bits = self.draw_bits(self.draw, source, shape, small=bool(numbers))
            in_fortran, big = rank > 0 and self.draw.random() < 0.5, self.draw.random() < 0.2
            layout = self.draw.choice("cf")
            if rank > 0:
                asked += ["--axes", ",".join(map(str, axes))]
            with self.subTest(source=source, target=target, shape=shape, fortran=in_fortran, big_endian=big,
                              layout=layout, asked=[text[:80] for text in asked]):
                path = self.write(bits, source, in_fortran, big)
                done = self.convert(path, out, "--dtype", target, "--memory", memory, "--layout", layout, *asked,
                                    *source_of(source))
                wanted = converted(bits.transpose(axes), source, target, numbers.get("scale"), numbers.get("bias"))
                self.expect(self.read(out, target, result), wanted, target, "random")
                self.assertEqual(done["bytes"], wanted.nbytes)
                many_tiles += done["tiles"] > 1
        if ON == "host":  # with a GPU, tiles are larger
            self.assertGreater(many_tiles, 2)

    def test_an_axis_with_numbers_is_cut(self):
        memory, out = self.within(LEAST), self.folder / "out.npy"
        shape, axes = (3, 307, 4003), (0, 2, 1)
        for source, target in (("u8", "f64"), ("f64", "u8")):
            bits = self.draw_bits(self.draw, source, shape, small=True)
            path = self.write(bits, source)
            for axis, count in enumerate(shape[axis] for axis in axes):
                scale, bias = (numpy.array([self.draw.randrange(-64, 65) / 16 for _ in range(count)]) for _ in range(2))
                with self.subTest(source=source, target=target, axis=axis):
                    done = self.convert(path, out, "--dtype", target, "--axes", "0,2,1", "--memory", memory,
                                        f"--scale={listed(scale)}", f"--bias={listed(bias)}", "--scale-axis", axis)
                    self.assertGreater(done["tiles"], 2 if ON == "host" else 0)
                    form = [count] + [1] * (2 - axis)
                    wanted = converted(bits.transpose(axes), source, target, scale.reshape(form), bias.reshape(form))
                    self.expect(self.read(out, target, wanted.shape), wanted, target, "cut")


class Files(Case):
    def setUp(self):
        super().setUp()
        self.draw = random.Random(script.seed())
        self.out = self.folder / "out.npy"

    def test_elements_that_keep_their_order(self):
        bits = self.draw_bits(self.draw, "f32", (3000, 2001), small=False)
        done = self.convert(self.write(bits, "f32"), self.out, "--axes", "0,1", "--dtype", "f16", "--memory", self.within(LEAST))
        self.assertIs(done["copied"], False)
        self.assertGreater(done["tiles"], 1)
        self.expect(self.read(self.out, "f16", bits.shape), converted(bits, "f32", "f16"), "f16", "in order")
        for shape in ((), (0,), (1,), (1, 1), (0, 3), (1, 70)):
            bits = self.draw_bits(self.draw, "f32", shape, small=False)
            self.convert(self.write(bits, "f32"), self.out, "--dtype", "i16")
            self.expect(self.read(self.out, "i16", shape[::-1]), converted(bits, "f32", "i16").T, "i16", str(shape))

    def test_runs_that_keep_their_order(self):
        for source, target in (("u8", "f32"), ("f32", "f16"), ("i64", "u8")):
            for shape, axes in (((7, 30, 40), (1, 0, 2)), ((2, 3, 400000), (1, 0, 2)), ((3, 2, 5, 4, 7), (1, 0, 2, 3, 4))):
                bits = self.draw_bits(self.draw, source, shape, small=False)
                with self.subTest(source=source, target=target, shape=shape):
                    self.convert(self.write(bits, source), self.out, "--axes", ",".join(map(str, axes)), "--dtype", target)
                    wanted = converted(bits, source, target).transpose(axes)
                    self.expect(self.read(self.out, target, wanted.shape), wanted, target, "runs")

    def test_the_type_that_is_there(self):
        """It is a transpose of bytes, but for big-endian files: what is asked for is little-endian."""
        for name in TYPES:
            bits = files_test.array_of(TYPES[name][0], (90, 11))
            for axes, shape, copied in (("1,0", (11, 90), False), ("0,1", (90, 11), True)):
                for big in (False, True):
                    path = self.write(bits, name, big_endian=big)
                    done = self.convert(path, self.out, "--axes", axes, "--dtype", name, *source_of(name))
                    found = self.read(self.out, name, shape)
                    self.assertEqual(found.tobytes(), (bits if copied else bits.T).tobytes(), f"{name} {big}")
                    self.assertIs(done["copied"], copied and not (big and bits.itemsize > 1))
        big = self.write(self.draw_bits(self.draw, "f32", (9, 8), small=False), "f32", big_endian=True)
        self.succeed(big, self.out)
        self.assertEqual(numpy.load(self.out).dtype.str, ">f4", "without a conversion, the header's type stays")

    def test_large_big_endian_files(self):
        bits = self.draw_bits(self.draw, "u64", (3, 5, 200000), small=False)
        path = self.write(bits, "u64", big_endian=True)
        self.convert(path, self.out, "--axes", "1,0,2", "--dtype", "u64", "--memory", self.within(LEAST))
        self.assertTrue((self.read(self.out, "u64", (5, 3, 200000)) == bits.transpose(1, 0, 2)).all())

    def test_scaled_without_a_type(self):
        bits = self.draw_bits(self.draw, "i16", (40, 50), small=True)
        self.convert(self.write(bits, "i16", big_endian=True), self.out, "--scale", "-3")
        self.expect(self.read(self.out, "i16", (50, 40)), converted(bits, "i16", "i16", scale=-3).T, "i16", "scaled")

    def test_what_a_header_does_not_tell(self):
        bits = self.draw_bits(self.draw, "bf16", (40, 50), small=False)
        wanted = converted(bits, "bf16", "f32").T
        for code in ("<V2", "|V2", "<u2", "<i2", ">V2"):  # numpy loads a file with the first, and saves it with the second
            with self.subTest(code):
                array = bits.byteswap() if code[0] == ">" else bits
                path = self.folder / "in.npy"
                with open(path, "wb") as file:
                    numpy.lib.format.write_array_header_1_0(file, {"descr": code, "fortran_order": False, "shape": bits.shape})
                    file.write(array.tobytes())
                self.convert(path, self.out, "--source-dtype", "bf16", "--dtype", "f32")
                self.expect(self.read(self.out, "f32", (50, 40)), wanted, "f32", code)
        bits = self.draw_bits(self.draw, "e5m2", (40, 50), small=False)
        with open(path, "wb") as file:  # as ml_dtypes writes it; numpy cannot read it
            numpy.lib.format.write_array_header_1_0(file, {"descr": "<f1", "fortran_order": False, "shape": bits.shape})
            file.write(bits.tobytes())
        self.convert(path, self.out, "--source-dtype", "e5m2", "--dtype", "f16")
        self.expect(self.read(self.out, "f16", (50, 40)), converted(bits, "e5m2", "f16").T, "f16", "e5m2")

    def test_files_without_a_header(self):
        bits = self.draw_bits(self.draw, "u8", (6, 30, 40, 3), small=False)
        source, target = self.folder / "in.bin", self.folder / "out.bin"
        source.write_bytes(bits.tobytes())
        shape = ["--shape", "6,30,40,3", "--axes", "0,3,1,2"]
        self.convert(source, target, *shape, "--source-dtype", "u8", "--dtype", "f16")
        wanted = converted(bits, "u8", "f16").transpose(0, 3, 1, 2)
        self.assertEqual(target.read_bytes(), wanted.tobytes())
        self.convert(source, target, *shape, "--source-dtype", "u8")
        self.assertEqual(target.read_bytes(), bits.transpose(0, 3, 1, 2).tobytes())
        self.convert(source, target, *shape, "--dtype", "u8", "--scale", "0.5")
        wanted = bits_of(bits.astype("longdouble") / 2, "u8", True).transpose(0, 3, 1, 2)
        self.assertEqual(target.read_bytes(), wanted.tobytes())

    def test_in_place(self):
        bits = self.draw_bits(self.draw, "u8", (500, 300), small=False)
        path = self.write(bits, "u8")
        self.convert(path, path, "--dtype", "f64")
        self.expect(self.read(path, "f64", (300, 500)), converted(bits, "u8", "f64").T, "f64", "wider")
        self.convert(path, path, "--dtype", "u8")
        self.assertTrue((self.read(path, "u8", (500, 300)) == bits).all())

    def test_the_memory_limit_is_kept(self):
        for source, target in (("u8", "f64"), ("f64", "u8"), ("f32", "f16")):
            bits = self.draw_bits(self.draw, source, (2001, 5003), small=False)
            path = self.write(bits, source)
            wanted = converted(bits, source, target).T
            for memory in map(self.within, (LEAST, 48 * MiB)):
                self.run_within(memory, path, self.out, "--dtype", target)
                self.expect(self.read(self.out, target, (5003, 2001)), wanted, target, f"within {memory}")

    def test_mistakes(self):
        path = self.write(self.draw_bits(self.draw, "f32", (4, 5), small=False), "f32")
        out = self.out
        for values, *asked in (
            (["--dtype", "'f33'", "bool", "c128"], "--dtype", "f33"),
            (["--source-dtype", "'f33'", "bool", "c128"], "--source-dtype", "f33"),
            (["--dtype", "c64", "in.npy", "f32"], "--dtype", "c64"),
            (["--source-dtype", "bf16", 2, "in.npy", 4], "--source-dtype", "bf16", "--dtype", "f32"),
            (["--scale", "'x'"], "--scale", "x"),
            (["--scale", "''"], "--scale", ""),
            (["--scale", "'1,'"], "--scale", "1,"),
            (["--scale", "'1,,2'"], "--scale", "1,,2"),
            (["--scale", "'inf'"], "--scale", "inf"),
            (["--bias", "'1e999'"], "--bias", "1e999"),
            (["--scale", 5, "--scale-axis"], "--scale", "1,2,3,4,5"),
            (["--scale", 5, 4, "axis 1"], "--scale", "1,2,3,4,5", "--scale-axis", 1),
            (["--bias", 4, 5, "axis -2"], "--scale", "1,2,3,4,5", "--bias", "1,2,3,4", "--scale-axis=-2"),
            (["--scale-axis", 2, 2, -2, 1], "--scale", "1", "--scale-axis", 2),
            (["--scale-axis", "'0,1'"], "--scale", "1", "--scale-axis", "0,1"),
            (["--scale-axis", "--scale", "--bias"], "--scale-axis", 1),
            (["--no-saturate", "--dtype"], "--no-saturate"),
            (["--element-size", "--dtype"], "--shape", "4,5", "--element-size", 4, "--scale", 2),
            (["--dtype", "--element-size"], "--shape", "4,5", "--scale", 2),
        ):
            with self.subTest(asked):
                self.refuse(2, values, path, out, *asked)
                self.refuse(2, values, path, path, *asked)
        self.refuse(2, ["--memory", MiB], path, out, "--dtype", "f16", "--memory", "1MiB")
        self.refuse(2, ["'<V2'", "in.npy", "--source-dtype"], self.write(numpy.ones((4, 5), "u2"), "bf16"), out, "--dtype", "f32")
        self.refuse(2, ["--scale-axis", 0], self.write(numpy.ones((), "u2"), "u16"), out, "--scale", 1, "--scale-axis", 0)
        self.refuse(2, ["--bias", "c64"], self.write(numpy.ones((4, 5), "c8"), "c64"), out, "--bias", 1)
        for code in ("<f16", "|S4", "<M8[s]", [("a", "<f4")]):
            array = files_test.array_of(code, (4, 5))
            self.refuse(2, ["in.npy", "--source-dtype"], self.save("in.npy", array), out, "--dtype", "f32")


if __name__ == "__main__":
    script.main()
