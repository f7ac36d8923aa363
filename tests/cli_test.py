"""The cornerturn program: its output, its files and its errors."""

import csv
import io
import json
import os
import random
import re
import resource
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import script

PROGRAM = os.environ["CORNERTURN"]
SOURCE_DIR = Path(os.environ["CORNERTURN_SOURCE_DIR"])

COPIES = ["copy/global@32x8", "copy/shared@32x8"]
TRANSPOSES = [
    "transpose/naive_read@16x16", "transpose/naive_read@32x32", "transpose/naive_read@32x8",
    "transpose/naive_write@32x32", "transpose/unindexed@32x8",
    "transpose/reindexed@2x2", "transpose/reindexed@3x4", "transpose/reindexed@32x8", "transpose/reindexed@8x32",
    "transpose/shared@16x16", "transpose/shared@32x32", "transpose/shared@32x8",
    "transpose/padded@16x16", "transpose/padded@32x32", "transpose/padded@32x8",
    "transpose/diagonal@32x8", "transpose/vectorized@8x32",
]
ONLY_4_BYTES = {"transpose/vectorized@8x32"}
FORMATS = ["table", "markdown", "csv", "json"]
DTYPES = {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "f16": 2, "bf16": 2, "u32": 4, "i32": 4, "f32": 4, "u64": 8, "i64": 8,
          "f64": 8, "c64": 8, "c128": 16}

REQUESTS_LD = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
REQUESTS_ST = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"
SECTORS_LD = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
SECTORS_ST = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
SHARED_LD = "smsp__sass_inst_executed_op_shared_ld.sum"
SHARED_ST = "smsp__sass_inst_executed_op_shared_st.sum"
WAVEFRONTS_LD = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
WAVEFRONTS_ST = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
METRICS = {REQUESTS_LD, REQUESTS_ST, SECTORS_LD, SECTORS_ST, SHARED_LD, SHARED_ST, WAVEFRONTS_LD, WAVEFRONTS_ST}
DERIVED = {"shared_conflicts_ld", "shared_conflicts_st"}


def run(*arguments, **options):
    return run_program(PROGRAM, *arguments, **options)


def run_program(program, *arguments, **options):
    return subprocess.run([program, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=300, **options)


def unwrapped(text):
    """The text for a wide terminal: a line that begins with four or more spaces continues the line above."""
    return re.sub(r"\n {4,}(?=\S)", " ", text)


class Case(script.NamesValues, unittest.TestCase):
    maxDiff = None

    def succeed(self, *arguments):
        ran = run(*arguments)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), f"cornerturn {' '.join(map(str, arguments))}")
        return ran.stdout

    def profile(self, kernel, rows, cols, *more):
        """On the emulator, or on the host if it is a host kernel."""
        return json.loads(self.succeed("profile", kernel, "--rows", rows, "--cols", cols, "--on", "emulator", "--format", "json", *more))

    def assert_one_line(self, stderr, *values):
        self.assertRegex(stderr, r"\Acornerturn: [^\n]+\n\Z", "one line on stderr that begins with the program's name")
        for value in values:
            self.assert_names(stderr, value)

    def refuse(self, status, values, *arguments):
        """The command ends with `status` and prints one line, on stderr, which names all these values in any order."""
        ran = run(*arguments)
        with self.subTest(command=" ".join(map(str, arguments)), said=ran.stderr):
            self.assertEqual(ran.returncode, status)
            self.assertEqual(ran.stdout, "")
            self.assert_one_line(ran.stderr, *values)

    def assert_is_emulated_result(self, result, kernel, rows, cols, dtype):
        self.assertEqual(list(result), ["kernel", "rows", "cols", "dtype", "device", "launch", "status", "verified", "checked", "trials", "metrics", "derived"])
        self.assertEqual([result[key] for key in ("kernel", "rows", "cols", "dtype")], [kernel, rows, cols, dtype])
        self.assertEqual(result["device"], {"kind": "emulator"})
        self.assertEqual(set(result["launch"]), {"grid", "block"})
        for extent in result["launch"].values():
            self.assertEqual(len(extent), 3)
            self.assertTrue(all(isinstance(n, int) and n > 0 for n in extent), extent)
        variant = re.search(r"@(\d+)x(\d+)$", kernel)
        self.assertEqual(result["launch"]["block"], [int(variant[1]), int(variant[2]), 1])
        self.assertEqual(result["status"], "ran")
        self.assertEqual(set(result["metrics"]), METRICS)
        self.assertEqual(set(result["derived"]), DERIVED)
        for value in [*result["metrics"].values(), *result["derived"].values()]:
            self.assertIs(type(value), int)
            self.assertGreaterEqual(value, 0)


class List(Case):
    def test_names_every_kernel(self):
        wanted = ["host/reference", *COPIES, *TRANSPOSES, "baseline/memcpy", "baseline/copy", "baseline/geam"]
        listed = json.loads(self.succeed("list", "--format", "json"))["kernels"]
        ids = [kernel["id"] for kernel in listed]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertLessEqual(set(wanted), set(ids))
        for kernel in listed:
            for field in ("idea", "change", "contract", "bytes", "limit", "source", "origin", "file"):
                self.assertTrue(kernel[field], f"{kernel['id']} has no {field}")
        for name in ("table", "markdown", "csv"):
            text = self.succeed("list", "--format", name)
            for id in wanted:
                self.assertIn(id, text, name)
        rows = list(csv.reader(io.StringIO(self.succeed("list", "--format", "csv"))))
        self.assertEqual([row[0] for row in rows[1:]], ids)
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})

    def test_help_and_version(self):
        self.assertIn("profile", self.succeed("--help"))
        self.assertRegex(self.succeed("--version"), r"^\d+\.\d+\.\d+\n$")
        for command in ("list", "show", "ladder", "profile", "bench"):
            text = self.succeed(command, "--help")
            for option in ("--format", "--seed", "--output", "--help"):
                self.assertIn(option, text, command)


class Show(Case):
    def matrices(self, shape, *more):
        shown = json.loads(self.succeed("show", shape, "--format", "json", *more))
        return shown, shown["original"], shown["transposed"]

    def test_4x8(self):
        shown, original, transposed = self.matrices("4x8")
        self.assertEqual((shown["rows"], shown["cols"], shown["dtype"]), (4, 8, "i32"))
        self.assertEqual([len(row) for row in original], [8] * 4)
        self.assertEqual(transposed, [list(column) for column in zip(*original)])
        self.assertGreater(len({digit for row in original for digit in row}), 2, "random digits")

    def test_every_dtype(self):
        for dtype in DTYPES:
            shown, original, transposed = self.matrices("5x3", "--dtype", dtype)
            self.assertEqual(shown["dtype"], dtype)
            self.assertEqual([len(row) for row in original], [3] * 5)
            self.assertEqual(transposed, [list(column) for column in zip(*original)], dtype)

    def test_every_format_shows_the_same(self):
        _, original, transposed = self.matrices("3x5")
        as_text = lambda rows: [[str(value) for value in row] for row in rows]
        long_rows = list(csv.reader(io.StringIO(self.succeed("show", "3x5", "--format", "csv"))))
        self.assertEqual(long_rows[0], ["matrix", "row", "col", "value"])
        expected = [[name, str(r), str(c), str(value)] for name, rows in (("original", original), ("transposed", transposed))
                    for r, row in enumerate(rows) for c, value in enumerate(row)]
        self.assertEqual(long_rows[1:], expected)
        for name in ("table", "markdown"):
            text = self.succeed("show", "3x5", "--format", name)
            head, first, second = re.split(r"Original:\n|Transposed:\n", text)
            self.assertEqual(head, "")
            for part, rows in ((first, original), (second, transposed)):
                lines = [line for line in part.splitlines() if line.strip()]
                if name == "markdown":
                    lines = [line.strip("|") for line in lines[2:]]
                self.assertEqual([re.split(r"[\s,|]+", line.strip()) for line in lines], as_text(rows), name)

    def test_empty(self):
        shown, original, transposed = self.matrices("0x5")
        self.assertEqual((shown["rows"], shown["cols"], original, transposed), (0, 5, [], [[]] * 5))
        shown, original, transposed = self.matrices("5x0")
        self.assertEqual((shown["rows"], shown["cols"], original, transposed), (5, 0, [[]] * 5, []))
        for name in FORMATS:
            self.succeed("show", "0x5", "--format", name)
            self.succeed("show", "5x0", "--format", name)

    def test_seed(self):
        self.assertEqual(self.succeed("show", "9x9", "--seed", 7), self.succeed("show", "9x9", "--seed", 7))
        self.assertNotEqual(self.succeed("show", "9x9", "--seed", 7), self.succeed("show", "9x9", "--seed", 8))


class Ladder(Case):
    ROWS, COLS = 70, 45

    def ladder(self, name, *more):
        return self.succeed("ladder", "transpose", "--on", "emulator", "--rows", self.ROWS, "--cols", self.COLS, "--format", name, *more)

    def test_json_has_every_variant(self):
        results = json.loads(self.ladder("json"))
        self.assertEqual(list(results), ["results"])
        by_id = {result["kernel"]: result for result in results["results"]}
        self.assertEqual(len(by_id), len(results["results"]))
        self.assertLessEqual({*COPIES, *TRANSPOSES}, set(by_id))
        self.assertFalse([id for id in by_id if id.startswith("baseline/")], "peers are no rungs")
        for id in (*COPIES, *TRANSPOSES):
            with self.subTest(kernel=id):
                self.assert_is_emulated_result(by_id[id], id, self.ROWS, self.COLS, "f32")
                self.assertIs(by_id[id]["verified"], True)
                self.assertEqual(by_id[id]["checked"], {"elements": self.ROWS * self.COLS, "of": self.ROWS * self.COLS})

    def test_csv(self):
        rows = list(csv.reader(io.StringIO(self.ladder("csv"))))
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        verified = rows[0].index("verified")
        self.assertEqual({row[0]: row[verified] for row in rows[1:]} | {id: "yes" for id in (*COPIES, *TRANSPOSES)},
                         {row[0]: "skipped" if row[0] == "transpose/packed@128x128" else "yes" for row in rows[1:]})

    def test_table_and_markdown(self):
        for name in ("table", "markdown"):
            text = self.ladder(name)
            for id in (*COPIES, *TRANSPOSES):
                self.assertIn(id, text, name)
            self.assertRegex(text, r"(?m)^(\d+)\D+\1\D+0\D+1\D*$")  # ran, verified, failed, skipped: the rung of bytes
            self.assertNotIn("\r", text, "no progress bar in a pipe")

    def test_a_rung_of_other_element_sizes_is_skipped(self):
        by_id = {result["kernel"]: result for result in json.loads(self.ladder("json", "--dtype", "f64"))["results"]}
        for id in (*COPIES, *TRANSPOSES):
            skipped = id in ONLY_4_BYTES
            self.assertEqual(by_id[id]["status"], "skipped" if skipped else "ran", id)
            self.assertEqual("reason" in by_id[id], skipped, id)
            if not skipped:
                self.assertIs(by_id[id]["verified"], True, id)
        self.assertRegex(self.ladder("table", "--dtype", "f64"), r"(?m)^(\d+)\D+\1\D+0\D+4\D*$")


class Profile(Case):
    def test_exact_counters(self):
        result = self.profile("transpose/shared@32x32", 4096, 4096, "--dtype", "f64")
        self.assert_is_emulated_result(result, "transpose/shared@32x32", 4096, 4096, "f64")
        self.assertEqual(result["launch"], {"grid": [128, 128, 1], "block": [32, 32, 1]})
        self.assertIs(result["verified"], True)
        self.assertEqual(result["checked"], {"elements": 4096 * 4096, "of": 4096 * 4096})
        self.assertEqual(result["metrics"], {
            REQUESTS_LD: 524288, REQUESTS_ST: 524288, SECTORS_LD: 4194304, SECTORS_ST: 4194304,
            SHARED_LD: 524288, SHARED_ST: 524288, WAVEFRONTS_LD: 16777216, WAVEFRONTS_ST: 1048576})
        self.assertEqual(result["derived"], {"shared_conflicts_ld": 16777216 - 1048576, "shared_conflicts_st": 0})

    def test_large_matrices_are_sampled(self):
        result = self.profile("transpose/shared@32x32", 65536, 65536)
        self.assert_is_emulated_result(result, "transpose/shared@32x32", 65536, 65536, "f32")
        self.assertEqual(result["verified"], "sampled")
        self.assertEqual(result["checked"]["of"], 65536 * 65536)
        self.assertGreater(result["checked"]["elements"], 0)
        self.assertLess(result["checked"]["elements"], result["checked"]["of"])
        self.assertEqual(result["metrics"][REQUESTS_LD], 65536 * 65536 // 32)
        self.assertEqual(result["metrics"][SECTORS_LD], 65536 * 65536 // 8)
        peak_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # of any child so far
        self.assertLess(peak_kib, 2 << 20, "32 GiB of matrices must not be touched")

    def test_full_runs_every_block_and_counts_the_same(self):
        rows, cols = 4096, 4100  # just more than the size above which blocks are sampled
        sampled = self.profile("transpose/padded@32x32", rows, cols)
        full = self.profile("transpose/padded@32x32", rows, cols, "--full")
        self.assertEqual(sampled["verified"], "sampled")
        self.assertIs(full["verified"], True)
        self.assertEqual(full["checked"], {"elements": rows * cols, "of": rows * cols})
        for key in ("metrics", "derived", "launch"):
            self.assertEqual(sampled[key], full[key])

    def test_lines(self):
        result = self.profile("transpose/padded@32x8", 100, 33, "--lines")
        lines = result["lines"]
        self.assertGreaterEqual(len(lines), 2)
        for family, key in (("metrics", METRICS), ("derived", DERIVED)):
            for name in key:
                self.assertEqual(sum(line[family][name] for line in lines), result[family][name], name)
        for line in lines:
            self.assertEqual(set(line), {"file", "line", "metrics", "derived"})
            text = (SOURCE_DIR / "src/ops/transpose/ladder" / line["file"]).read_text().splitlines()[line["line"] - 1]
            self.assertRegex(text, r"tile\[|\.data\[", f"{line['file']}:{line['line']} is an access to memory")
        for name in ("table", "markdown", "csv"):
            text = self.succeed("profile", "transpose/padded@32x8", "--rows", 100, "--on", "emulator", "--lines", "--format", name)
            self.assertRegex(text, r"80_padded\.cu:\d+", name)
        self.assertNotIn("lines", self.profile("transpose/padded@32x8", 100, 33))

    def test_every_format_has_every_counter(self):
        for name in FORMATS:
            text = self.succeed("profile", "transpose/shared@32x8", "--rows", 64, "--on", "emulator", "--format", name)
            for metric in METRICS | DERIVED:
                self.assertIn(metric, text, name)

    def test_seed(self):
        first = self.profile("transpose/shared@32x8", 50, 60, "--seed", 1)
        self.assertEqual(first, self.profile("transpose/shared@32x8", 50, 60, "--seed", 2**63 - 1), "counters depend on no data")
        self.assertIs(first["verified"], True)

    def test_smallest_sizes(self):
        for rows, cols in ((0, 5), (5, 0), (0, 0), (1, 1)):
            for id in ("host/reference", *COPIES, *TRANSPOSES):
                with self.subTest(kernel=id, rows=rows, cols=cols):
                    result = self.profile(id, rows, cols)
                    self.assertEqual(result["status"], "ran")
                    self.assertIs(result["verified"], True)
                    self.assertEqual(result["checked"], {"elements": rows * cols, "of": rows * cols})

    def test_host_reference(self):
        result = self.profile("host/reference", 30, 40, "--dtype", "c128")
        self.assertEqual(result["device"], {"kind": "host"})
        self.assertIs(result["verified"], True)

    def test_one_size_stands_for_both(self):
        for option in ("--rows", "--cols"):
            result = json.loads(self.succeed("profile", COPIES[0], option, 40, "--on", "emulator", "--format", "json"))
            self.assertEqual((result["rows"], result["cols"]), (40, 40))

    def test_random_requests(self):
        seed = random.SystemRandom().getrandbits(32)
        draw = random.Random(seed)
        for _ in range(25):
            id = draw.choice([*COPIES, *TRANSPOSES])
            dtype = draw.choice([name for name, size in DTYPES.items() if size == 4 or id not in ONLY_4_BYTES])
            rows, cols = draw.randint(1, 200), draw.randint(1, 200)
            with self.subTest(test_seed=seed, kernel=id, dtype=dtype, rows=rows, cols=cols):
                result = self.profile(id, rows, cols, "--dtype", dtype, "--seed", draw.getrandbits(60))
                self.assert_is_emulated_result(result, id, rows, cols, dtype)
                self.assertIs(result["verified"], True)


class Explain(Case):
    def explain(self, *arguments):
        """The text, as if the terminal were wide."""
        return unwrapped(self.succeed("explain", "transpose", *arguments))

    def test_the_choice_follows_the_matrix(self):
        for wanted, arguments in [
            ("vector(_apart)?", ["--rows", 16384, "--cols", 16384]),
            ("ragged|tiles", ["--rows", 10007, "--cols", 10009]),
            ("ragged|tiles", ["--rows", 8192, "--cols", 8192, "--source-offset", 1]),
            ("ragged|tiles", ["--rows", 8192, "--cols", 8192, "--destination-ld", 8193]),
            ("tall", ["--rows", 4194304, "--cols", 3, "--dtype", "u8"]),
            ("wide", ["--rows", 3, "--cols", 4194304, "--dtype", "u8"]),
            ("small", ["--rows", 32, "--cols", 32, "--dtype", "u8", "--count", 10000]),
            ("units", ["--rows", 100, "--cols", 1000, "--element-size", 12]),
            ("units|rows", ["--rows", 100, "--cols", 100, "--element-size", 256]),
            ("rows", ["--rows", 1, "--cols", 100000000]),
            ("vector_in_place", ["--rows", 128, "--cols", 128, "--in-place"]),
            ("elements_in_place", ["--rows", 127, "--cols", 127, "--in-place"]),
            ("blocks_in_place", ["--rows", 127, "--cols", 127, "--in-place", "--element-size", 128]),
            ("nothing", ["--rows", 0, "--cols", 5]),
        ]:
            with self.subTest(arguments=arguments):
                self.assertRegex(self.explain(*arguments), rf"\Atranspose/production: ({wanted})\b[^\n]*: [a-z0-9][^\n]+\n\Z")

    def test_in_host_memory(self):
        for wanted, arguments in [
            ("(lines|strips|tiles|direct)", ["--rows", 4096, "--cols", 4096]),
            ("(strips|tiles|direct)", ["--rows", 4097, "--cols", 4096]),
            ("direct", ["--rows", 100, "--cols", 100]),
            ("in_place", ["--rows", 4097, "--cols", 4097, "--in-place"]),
            ("nothing", ["--rows", 0, "--cols", 5]),
        ]:
            with self.subTest(arguments=arguments):
                self.assertRegex(self.explain("--on", "host", *arguments), rf"\Ahost/production: {wanted}\b[^\n]*: [a-z][^\n]+\n\Z")
        said = json.loads(self.explain("--on", "host", "--rows", 6, "--cols", 4, "--format", "json"))
        self.assertEqual(said["on"], "host")
        self.assertNotIn("compute_capability", said)
        self.refuse(2, ["--on", "'mars'"], "explain", "transpose", "--on", "mars")

    def test_json(self):
        said = json.loads(self.explain("--rows", 6, "--cols", 4, "--format", "json"))
        self.assertEqual((said["rows"], said["cols"], said["element_size"], said["source_ld"]), (6, 4, 4, 4))
        self.assertTrue(said["choice"].startswith("transpose/production: "))

    def test_mistakes(self):
        self.refuse(2, ["source", 3, 4], "explain", "transpose", "--rows", 6, "--cols", 4, "--source-ld", 3)
        self.refuse(2, ["--element-size", 0, 4096], "explain", "transpose", "--element-size", 0)
        self.refuse(2, ["'sort'", "transpose", "gemm", "permute"], "explain", "sort")
        self.refuse(2, [], "explain", "transpose", "--rows", 6, "--cols", 4, "--in-place")


class Output(Case):
    COMMAND = ("ladder", "transpose", "--on", "emulator", "--rows", 33, "--format", "json")

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def test_the_file_is_whole(self):
        target = self.directory / "results.json"
        target.write_text("the old content")
        self.assertEqual(self.succeed(*self.COMMAND, "--output", target), "")
        self.assertEqual(target.read_text(), self.succeed(*self.COMMAND))
        self.assertEqual(list(self.directory.iterdir()), [target], "no partial file beside it")

    def test_a_file_that_cannot_be_written(self):
        absent = self.directory / "absent" / "results.json"
        self.refuse(1, [str(absent)], *self.COMMAND, "--output", absent)
        self.refuse(1, [str(self.directory)], *self.COMMAND, "--output", self.directory)
        self.assertEqual(list(self.directory.iterdir()), [], "no partial file left")

    def test_a_bad_request_leaves_an_old_file_alone(self):
        target = self.directory / "results.json"
        target.write_text("the old content")
        self.refuse(2, ["bogus"], "list", "--format", "bogus", "--output", target)
        self.assertEqual(target.read_text(), "the old content")


if __name__ == "__main__":
    script.main()
