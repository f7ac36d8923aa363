"""cornerturn transpose: compares its files with numpy's for every type, order and version. Checks that it keeps its memory
limit, and that it leaves files alone if it fails. To transpose on a GPU, run the script itself with CORNERTURN_ON=cuda."""

import errno
import io
import json
import os
import random
import re
import stat
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import script

try:
    import numpy
except ImportError:
    print("skipped: this Python has no numpy to compare with")
    sys.exit(77)

PROGRAM = os.environ["CORNERTURN"]
ON = os.environ.get("CORNERTURN_ON", "host")
TRANSPOSE = [PROGRAM, "transpose"] + ([] if ON == "host" else ["--on", ON])
MiB = 1 << 20

DTYPES = ["?", "i1", "u1", "<i2", ">i2", "<f2", ">u4", "<f4", "<i8", ">f8", "<c8", ">c16", "<M8[ns]", "<m8[25us]", "S1", "S7",
          "<U3", ">U2", "V5", numpy.dtype("longdouble").str,
          [("a", "<i4"), ("b", "<f8", (2, 3)), ("c", "S3")],
          [("outer", [("x", "u1"), ("y", ">i2")]), ("z", "<c16")],
          [(("a title", "name"), "<i2")],
          {"names": ["p", "q"], "formats": ["u1", "<f8"], "offsets": [0, 8], "itemsize": 16}]


def array_of(dtype, shape, seed=1):
    """Random bytes, including NaNs with payloads and denormals."""
    dtype = numpy.dtype(dtype)
    count = int(numpy.prod(shape))
    data = numpy.random.default_rng(seed).integers(0, 256, count * dtype.itemsize, dtype="u1")
    if dtype == bool:
        data &= 1
    return data.view(dtype)[:count].reshape(shape)


def elements(array):
    """The bytes of all elements in C order, including those between the fields of a structure."""
    return array.view(f"V{array.dtype.itemsize}").tobytes()


def fortran(array):
    """The array in Fortran order. It is viewed as bytes, because numpy would not copy the bytes between fields."""
    return numpy.asfortranarray(array.view(f"V{array.dtype.itemsize}")).view(array.dtype)


class Case(script.NamesValues, unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_it(self, *arguments, **options):
        return subprocess.run([*TRANSPOSE, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=300, **options)

    def succeed(self, *arguments):
        ran = self.run_it(*arguments)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout

    def refuse(self, status, values, *arguments, **options):
        """Ends with `status`, prints one line with the values in this order, and changes no file."""
        before = self.files()
        ran = self.run_it(*arguments, **options)
        self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)
        self.assertRegex(ran.stderr, r"\Acornerturn: [^\n]+\n\Z")
        self.assert_names(ran.stderr, *values)
        self.assertEqual(self.files(), before, "a refused run must not change files")

    def files(self):
        return {p.name: p.read_bytes() if p.is_file() and os.access(p, os.R_OK) else None for p in self.folder.iterdir()}

    def within(self, memory):
        """`memory`, plus the host memory that CUDA uses."""
        if ON == "host":
            return memory
        path = self.save("small.npy", array_of("u1", (2, 2)))
        refusal = self.run_it(path, path, "--memory", "1MiB").stderr
        path.unlink()
        _, used, _ = map(int, re.findall(r"\d+", refusal))
        return used + memory

    def run_within(self, memory, *arguments):
        """Checks the peak resident size. A small process starts the program, because a child first has the size of its parent."""
        starter = """import resource, subprocess, sys
ended = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
print(ended.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""
        command = [*TRANSPOSE, *map(str, arguments), "--memory", str(memory)]
        ran = subprocess.run([sys.executable, "-S", "-E", "-c", starter, *command], capture_output=True, text=True, timeout=300)
        status, peak = map(int, ran.stdout.split())
        self.assertEqual((status, ran.stderr), (0, ""))
        print(f"{peak} of {memory / 1024:.0f} KiB", end=" ... ", file=sys.stderr)
        self.assertLessEqual(peak * 1024, memory)

    def save(self, name, array, version=None):
        path = self.folder / name
        with open(path, "wb") as file:
            numpy.lib.format.write_array(file, array, version=version, allow_pickle=False)
        return path

    def expect_transposed(self, path, array, fortran=False, axes=None):
        found, wanted = numpy.load(path, allow_pickle=False), array.transpose(axes)
        self.assertEqual((found.dtype, found.shape), (array.dtype, wanted.shape))
        self.assertTrue(elements(found) == elements(wanted), f"{array.dtype} {array.shape} {axes}")
        if found.ndim >= 2 and sum(extent > 1 for extent in found.shape) > 1 and found.size > 0:
            self.assertEqual(found.flags.f_contiguous, fortran)
        with open(path, "rb") as file:
            major = numpy.lib.format.read_magic(file)[0]
            (numpy.lib.format.read_array_header_1_0 if major == 1 else numpy.lib.format.read_array_header_2_0)(file)
            self.assertEqual(file.tell() % 64, 0, "elements must be aligned as in numpy's files")


class Formats(Case):
    def test_every_dtype_in_both_orders(self):
        for dtype in DTYPES:
            array = array_of(dtype, (37, 53))
            for source in (array, fortran(array)):
                for layout in "cf":
                    path = self.save("in.npy", source)
                    self.succeed(path, self.folder / "out.npy", "--layout", layout)
                    self.expect_transposed(self.folder / "out.npy", array, fortran=layout == "f")

    def copied(self, *arguments):
        """Whether the program copied the elements and changed only the header."""
        return json.loads(self.succeed(*arguments, "--format", "json"))["copied"]

    def test_only_the_header_changes_if_that_is_enough(self):
        array = array_of("<f4", (30, 50))
        for source, layout, copied in [(array, "c", False), (array, "f", True), (numpy.asfortranarray(array), "c", True),
                                       (numpy.asfortranarray(array), "f", False)]:
            self.assertIs(self.copied(self.save("in.npy", source), self.folder / "out.npy", "--layout", layout), copied)
            self.expect_transposed(self.folder / "out.npy", array, fortran=layout == "f")

    def test_one_row_is_one_column(self):
        for shape in [(1, 70), (70, 1)]:
            self.assertTrue(self.copied(self.save("in.npy", array_of("<f4", shape)), self.folder / "out.npy"))
            self.expect_transposed(self.folder / "out.npy", array_of("<f4", shape))

    def test_every_version(self):
        for version in [(1, 0), (2, 0), (3, 0)]:
            array = array_of("<f8", (20, 30))
            self.succeed(self.save("in.npy", array, version), self.folder / "out.npy")
            self.expect_transposed(self.folder / "out.npy", array)
            self.assertEqual((self.folder / "out.npy").read_bytes()[6], version[0])
        names = array_of([("größe", "<f4"), ("長さ", "<i2")], (6, 7))
        with self.assertWarns(UserWarning):
            path = self.save("in.npy", names)
        self.succeed(path, self.folder / "out.npy")
        self.expect_transposed(self.folder / "out.npy", names)
        many = array_of([(f"a_rather_long_name_{i}", "u1") for i in range(3000)], (3, 2))
        with self.assertWarns(UserWarning):
            path = self.save("in.npy", many)
        self.succeed(path, self.folder / "out.npy")
        found = numpy.load(self.folder / "out.npy", max_header_size=1 << 20)
        self.assertEqual(elements(found), elements(many.T))

    def test_shapes(self):
        for shape in [(), (0,), (1,), (1000,), (0, 5), (5, 0), (1, 1), (1, 1000), (1000, 1), (3, 1001), (1001, 3), (512, 512),
                      (257, 1023)]:
            for dtype in ("u1", "<f8", "S3"):
                array = array_of(dtype, shape)
                self.succeed(self.save("in.npy", array), self.folder / "out.npy")
                self.expect_transposed(self.folder / "out.npy", array)

    def test_any_number_of_axes(self):
        seed = random.randrange(1 << 32)
        print(f"seed {seed}")
        draw = random.Random(seed)
        memory = self.within(LEAST)
        for rank in list(range(9)) * 4:
            dtype = numpy.dtype(draw.choice(DTYPES))
            shape = [draw.choice([1, 1, 2, 3, 4, 5, 7, 8]) for _ in range(rank)]
            if rank > 0 and draw.random() < 0.5:  # larger than the memory
                room = 24 * MiB // (int(numpy.prod(shape)) * dtype.itemsize)
                shape[draw.randrange(rank)] *= max(1, room)
            if rank > 0 and draw.random() < 0.1:
                shape[draw.randrange(rank)] = 0
            axes = draw.sample(range(rank), rank)
            array = array_of(dtype, shape, seed)
            path = self.save("in.npy", fortran(array) if rank > 0 and draw.random() < 0.5 else array)
            layout = draw.choice("cf") if rank > 1 else "c"
            given = [axis - rank if draw.random() < 0.3 else axis for axis in axes]
            with self.subTest(dtype=dtype, shape=shape, axes=given, layout=layout):
                asked = [] if rank == 0 or (axes == list(range(rank))[::-1] and draw.random() < 0.5) else ["--axes=" + ",".join(map(str, given))]
                self.succeed(path, self.folder / "out.npy", "--memory", memory, "--layout", layout, *asked)
                self.expect_transposed(self.folder / "out.npy", array, layout == "f", axes)

    def test_axes_of_files_without_a_header(self):
        array = array_of("<f4", (7, 30, 40))
        (self.folder / "in.bin").write_bytes(array.tobytes())
        self.succeed(self.folder / "in.bin", self.folder / "out.bin", "--shape", "7,30,40", "--dtype", "f32", "--axes", "2,0,1")
        self.assertEqual((self.folder / "out.bin").read_bytes(), array.transpose(2, 0, 1).tobytes())

    def test_long_runs(self):
        array = array_of("u1", (3, 5, 2 * MiB))
        path = self.save("in.npy", array)
        self.succeed(path, self.folder / "out.npy", "--axes", "1,0,2", "--memory", self.within(LEAST))
        self.expect_transposed(self.folder / "out.npy", array, axes=(1, 0, 2))

    def test_files_without_a_header(self):
        array = array_of("<f4", (123, 77))
        (self.folder / "in.bin").write_bytes(array.tobytes())
        size = ["--rows", 123, "--cols", 77, "--dtype", "f32"]
        self.succeed(self.folder / "in.bin", self.folder / "out.bin", *size)
        self.assertEqual((self.folder / "out.bin").read_bytes(), array.T.tobytes())
        self.succeed(self.folder / "in.bin", self.folder / "out.bin", *size, "--layout", "f")
        self.assertEqual((self.folder / "out.bin").read_bytes(), array.tobytes())

    def test_elements_that_have_no_name(self):
        array = array_of("S5", (123, 77))
        (self.folder / "in.bin").write_bytes(array.tobytes())
        self.succeed(self.folder / "in.bin", self.folder / "out.bin", "--rows", 123, "--cols", 77, "--element-size", 5)
        self.assertEqual((self.folder / "out.bin").read_bytes(), array.T.tobytes())

    def test_few_threads(self):
        array = array_of("<f4", (3000, 2000))
        path = self.save("in.npy", array)
        for threads in (1, 2, 3, 100):
            self.succeed(path, self.folder / "out.npy", "--threads", threads)
            self.expect_transposed(self.folder / "out.npy", array)

    def test_without_a_gpu(self):
        path = self.save("in.npy", array_of("<f4", (300, 200)))
        with unittest.mock.patch.dict(os.environ, CUDA_VISIBLE_DEVICES="-1"):
            self.refuse(1, ["GPU"], path, self.folder / "out.npy", *([] if ON == "cuda" else ["--on", "cuda"]))

    def test_random_shapes_types_and_memory(self):
        seed = random.randrange(1 << 32)
        print(f"seed {seed}")
        draw = random.Random(seed)
        memory = self.within(LEAST)
        for _ in range(40):
            dtype = numpy.dtype(draw.choice(DTYPES))
            rows = draw.choice([1, 2, 30, 1000, 5000])
            cols = max(1, draw.randrange(1, 5 * MiB) // (rows * dtype.itemsize))
            if draw.random() < 0.5:
                rows, cols = cols, rows
            array = array_of(dtype, (rows, cols), seed)
            source = fortran(array) if draw.random() < 0.5 else array
            path = self.save("in.npy", source)
            self.succeed(path, self.folder / "out.npy", "--memory", memory)
            self.expect_transposed(self.folder / "out.npy", array)

    def test_what_is_printed(self):
        array = array_of("<f8", (20, 30))
        path = self.save("in.npy", array)
        for form in ("table", "markdown", "csv", "json"):
            self.assert_names(self.succeed(path, self.folder / "out.npy", "--format", form), "(20, 30)", "'<f8'", "C", "(30, 20)", "'<f8'", "C")


# The program itself takes 9 to 18 MiB. It depends on how many pages of the program file the system maps at once.
LEAST = 24 * MiB


class Memory(Case):
    def test_the_limit_is_kept(self):
        array = array_of("<f8", (4001, 5003))  # 160 MB
        path = self.save("in.npy", array)
        for memory in map(self.within, (LEAST, 32 * MiB, 64 * MiB)):
            self.run_within(memory, path, self.folder / "out.npy")
            self.expect_transposed(self.folder / "out.npy", array)
            self.run_within(memory, path, self.folder / "out.npy", "--layout", "f")
            self.expect_transposed(self.folder / "out.npy", array, fortran=True)

    def test_less_than_a_row(self):
        array = array_of("u1", (3, 40 * MiB))
        path = self.save("in.npy", array)
        memory = self.within(LEAST)
        self.run_within(memory, path, self.folder / "out.npy")
        self.expect_transposed(self.folder / "out.npy", array)
        self.run_within(memory, self.folder / "out.npy", self.folder / "again.npy")
        self.expect_transposed(self.folder / "again.npy", array.T)

    def test_large_elements(self):
        array = array_of("V5000000", (3, 4))
        path = self.save("in.npy", array)
        memory = self.within(48 * MiB)
        self.run_within(memory, path, self.folder / "out.npy")
        self.expect_transposed(self.folder / "out.npy", array)

    def test_too_little_is_refused(self):
        path = self.save("in.npy", array_of("<f8", (40, 50)))
        self.refuse(2, ["--memory", MiB, MiB + 2 * 8], path, self.folder / "out.npy", "--memory", "1MiB")


class Mistakes(Case):
    def test_files_that_cannot_be_read(self):
        out = self.folder / "out.npy"
        absent, is_folder = os.strerror(errno.ENOENT), os.strerror(errno.EISDIR)
        self.refuse(1, ["absent.npy", absent], self.folder / "absent.npy", out)
        self.refuse(1, [self.folder, is_folder], self.folder, out)
        self.refuse(1, ["/dev/null"], "/dev/null", out)
        os.mkfifo(self.folder / "pipe")
        self.refuse(1, [self.folder / "pipe"], self.folder / "pipe", out)
        path = self.save("in.npy", array_of("u1", (4, 5)))
        self.refuse(1, ["absent/out.npy", absent], path, self.folder / "absent/out.npy")
        self.refuse(1, [self.folder, is_folder], path, self.folder)
        self.refuse(1, ["/dev/null"], path, "/dev/null")
        self.refuse(1, [], path, "")
        if os.getuid() != 0:
            path.chmod(0)
            self.refuse(1, ["in.npy", os.strerror(errno.EACCES)], path, out)

    def test_usage(self):
        path = self.save("in.npy", array_of("u1", (4, 5)))
        out = self.folder / "out.npy"
        self.refuse(2, ["--memory", "much"], path, out, "--memory", "much")
        self.refuse(2, ["--memory", 9223372036854775807, 1 << 40, 64], path, out, "--memory", "9223372036854775807TiB")
        self.refuse(2, ["--layout", "z"], path, out, "--layout", "z")
        if ON == "host":
            self.refuse(2, ["--on", "emulator", "host", "cuda"], path, out, "--on", "emulator")
        without_header = ["--rows", "--cols", "--shape", "--dtype", "--element-size"]
        self.refuse(2, without_header, path, out, "--rows", 4)
        self.refuse(2, without_header, path, out, "--rows", 4, "--cols", 5, "--dtype", "u8", "--element-size", 1)
        self.refuse(2, without_header, path, out, "--shape", "4,5")
        self.refuse(2, ["--element-size", 0], path, out, "--rows", 4, "--cols", 5, "--element-size", 0)
        self.refuse(2, ["--threads", 0], path, out, "--threads", 0)
        self.refuse(2, ["--axes", 0, "in.npy", 2], path, out, "--axes", "0")
        self.refuse(2, ["--axes", "0,1,2", "in.npy", 2], path, out, "--axes", "0,1,2")
        self.refuse(2, ["--axes", "1,-1", 1], path, out, "--axes", "1,-1")
        self.refuse(2, ["--axes", "0,2", 2, -2, 1], path, out, "--axes", "0,2")
        self.refuse(2, ["--axes", "0,x"], path, out, "--axes", "0,x")
        self.refuse(2, ["--shape", "4,-5"], path, out, "--shape", "4,-5", "--dtype", "u8")
        self.refuse(2, ["OUT"], path)
        self.refuse(2, ["--output", "in.npy"], path, out, "--output", path)
        self.refuse(2, ["--output", "out.npy"], path, out, "--output", self.folder / "." / "out.npy")
        size = path.stat().st_size
        self.refuse(1, ["in.npy", size, 4 * 5], path, out, "--rows", 4, "--cols", 5, "--dtype", "u8")
        self.refuse(1, ["in.npy", size, 400 * 5 * 8], path, out, "--rows", 400, "--cols", 5, "--dtype", "f64")
        self.refuse(2, [1 << 62, 5, 64], path, out, "--rows", 1 << 62, "--cols", 5, "--dtype", "f64")

    def header(self, text, version=1, data=b"", length=None):
        text = text if isinstance(text, bytes) else text.encode("latin1")
        size = len(text) if length is None else length
        path = self.folder / "in.npy"
        path.write_bytes(b"\x93NUMPY" + bytes([version, 0]) + size.to_bytes(2 if version == 1 else 4, "little") + text + data)
        return path

    def other_minor(self, text, version):
        """A file that is valid except for its minor version, which numpy refuses too."""
        data = bytearray(self.header(text, version, data=bytes(48)).read_bytes())
        data[7] = 1
        with self.assertRaises(ValueError):
            numpy.load(io.BytesIO(data))
        return bytes(data)

    def test_headers(self):
        out = self.folder / "out.npy"
        good = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }"
        self.succeed(self.header(good, data=bytes(48)), out)
        out.unlink()
        for data, *values in [
            *[(data, "--shape", "--dtype") for data in (b"", b"PK\x03\x04", b"\x93NUMP")],
            *[(data, len(data)) for data in (b"\x93NUMPY", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x02\x00\x10\x00", b"\x93NUMPY\x01\x00\x76\x00{")],
            (b"\x93NUMPY\x04\x00\x10\x00\x00\x00", "4.0", "1.0", "2.0", "3.0"),
            *[(self.other_minor(good, major), f"{major}.1", "1.0", "2.0", "3.0") for major in (1, 2, 3)],
        ]:
            (self.folder / "in.npy").write_bytes(data)
            self.refuse(1, ["in.npy", *values], self.folder / "in.npy", out)
        found = 192  # bytes of elements
        for text, *values in [
            ("{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }", "'|O'"),
            ("{'descr': [('a', '<f8'), ('b', '|O')], 'fortran_order': False, 'shape': (2, 3), }", "'|O'"),
            ("{'descr': '<q9', 'fortran_order': False, 'shape': (2, 3), }", "'<q9'"),
            ("{'descr': '|S0', 'fortran_order': False, 'shape': (2, 3), }", 0, 1, 2147483647),
            ("{'descr': '<f8', 'fortran_order': 0, 'shape': (2, 3), }", "fortran_order", 0, "True", "False"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (2, -3), }", "(2, -3)"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': [2, 3], }", "[2, 3]"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (6), }", "(6)", "(6,)"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)", "','"),
            ("{'descr': '<f8', 'fortran_order': False}", "descr", "fortran_order", "shape"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'more': 1}", "'more'", "descr", "fortran_order", "shape"),
            ("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", "'descr'", "descr", "fortran_order", "shape"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)} x", "'x'"),
            ("{'descr': '<f8, 'fortran_order': False, 'shape': (2, 3)}", "fortran_order", "','"),
            ("{'descr': '<f8", "'"),
            ("[" * 5000, 32),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 4294967296, 4294967296, 64),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 1), }", 99999999999999999999, 64),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3, 4, 5), }", found, 2 * 3 * 4 * 5 * 8),
            ("{'descr': '|u1', 'fortran_order': False, 'shape': (" + "2, " * 40 + "), }", found, 2 ** 40),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 30), }", found, 2 * 30 * 8),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", found, 2 * 3 * 8),
            *[("{'descr': '|u1', 'fortran_order': False, 'shape': (%s), }" % shape, found, size)
              for shape, size in (("9223372036854775807,", 9223372036854775807), ("9223372036854775807, 1", 9223372036854775807),
                                  ("1, 9223372036854775700", 9223372036854775700))],
            ("{'descr': '|u1', 'fortran_order': False, 'shape': (" + "1, " * 65 + "), }", 65, 64),
        ]:
            with self.subTest(text[:80]):
                self.refuse(1, ["in.npy", *values], self.header(text, data=bytes(found)), out)
        self.refuse(1, ["in.npy", 0xfffffff0 + 12, 1 << 20], self.header(good, version=2, length=0xfffffff0), out)

    def test_two_arrays_in_a_file(self):
        path = self.folder / "two.npy"
        with open(path, "wb") as file:
            for _ in range(2):
                numpy.save(file, array_of("u1", (20, 30)))
        header = path.stat().st_size // 2 - 20 * 30
        self.refuse(1, ["two.npy", path.stat().st_size - header, 20 * 30], path, path)

    def test_a_failure_does_not_change_the_target(self):
        out = self.save("out.npy", array_of("u1", (3, 3)))
        self.refuse(1, ["in.npy", 0, 2 * 30 * 8], self.header("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 30), }"), out)


class Targets(Case):
    def test_in_place(self):
        array = array_of("<f8", (300, 200))
        path = self.save("a.npy", array)
        self.succeed(path, path)
        self.expect_transposed(path, array)
        link = self.folder / "link.npy"
        link.symlink_to("a.npy")
        self.succeed(link, link)
        self.assertTrue(link.is_symlink())
        self.expect_transposed(path, array.T)

    def test_permissions(self):
        path = self.save("a.npy", array_of("u1", (30, 20)))
        path.chmod(0o640)
        self.succeed(path, path)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o640)
        mask = os.umask(0)
        os.umask(mask)
        self.succeed(path, self.folder / "new.npy")
        self.assertEqual(stat.S_IMODE((self.folder / "new.npy").stat().st_mode), 0o666 & ~mask)

    def test_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"no small file system to fill: {mounted.stderr.strip()}")
        try:
            path = self.save("in.npy", array_of("<f8", (1000, 1000)))
            old = b"old content"
            (disk / "out.npy").write_bytes(old)
            ran = self.run_it(path, disk / "out.npy")
            self.assertEqual(ran.returncode, 1)
            self.assertRegex(ran.stderr, r"\Acornerturn: [^\n]*\n\Z")
            self.assert_names(ran.stderr, "out.npy", os.strerror(errno.ENOSPC))
            self.assertEqual({p.name: p.read_bytes() for p in disk.iterdir()}, {"out.npy": old})
        finally:
            subprocess.run(["umount", disk], check=True)


if __name__ == "__main__":
    script.main()
