"""The hardware counters that the program shows are those that Nsight Compute printed in the same run. If ncu cannot be run, the
program says why. Needs a GPU and ncu: skipped if either is missing."""

import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import script

PROGRAM = os.environ["CORNERTURN"]
RUNGS = "padded@32x32,shared@16x16,vectorized@8x32,production"


def run(*arguments, environment=None):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=300, env=environment)


def why_not():
    """The reason why this cannot be tested here; None if it can."""
    done = run("profile", "transpose/padded@32x8", "--rows", "64", "--on", "cuda", "--untimed")
    if done.returncode != 0:
        return done.stderr.strip()
    done = run("profile", "transpose/padded@32x8", "--rows", "64", "--on", "cuda", "--untimed", "--counters")
    return done.stderr.strip() if done.returncode != 0 and script.names(done.stderr, "'ncu'", "PATH") else None


def through_wrapper(folder, *arguments):
    """The results of the program with --counters, and the rows that ncu printed for it."""
    ncu = shutil.which("ncu") or next(pathlib.Path("/usr/local/cuda/bin").glob("ncu"))
    wrapper = folder / "ncu"
    wrapper.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then exec {ncu} --version; fi\n{ncu} "$@" > {folder}/printed\n'
                       f'code=$?\ncat {folder}/printed\nexit $code\n')
    wrapper.chmod(0o755)
    done = run(*arguments, "--on", "cuda", "--untimed", "--counters", "--ncu", str(wrapper), "--format", "json")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    text = (folder / "printed").read_text()
    rows = list(csv.DictReader(io.StringIO(text[text.index('"ID"'):])))[1:]
    return json.loads(done.stdout), rows


def read(row, metric):
    return float(row[metric].replace(",", ""))


class Ncu(script.NamesValues, unittest.TestCase):
    def compare(self, results, rows):
        compared = 0
        for result in results:
            mine = [row for row in rows if row["Kernel Name"].startswith(result["kernel"] + "/")]
            hardware = result["hardware"]
            self.assertEqual(hardware["kernels"], len(mine), result["kernel"])
            self.assertGreater(len(hardware["metrics"]), 30)
            for metric, value in hardware["metrics"].items():
                each, times = ([read(row, m) for row in mine] for m in (metric, "gpu__time_duration.sum"))
                if metric.endswith(".sum") or metric == "sm__cycles_elapsed.max":
                    wanted = sum(each)
                elif metric.endswith(".max") or metric.startswith("launch__"):
                    wanted = max(each)
                else:
                    wanted = sum(value * time for value, time in zip(each, times)) / sum(times)
                self.assertAlmostEqual(value, wanted, delta=0.01 * len(each), msg=f"{result['kernel']} {metric}")
                compared += 1
        return compared

    def test_a_ladder_shows_the_counters_of_ncu(self):
        with tempfile.TemporaryDirectory() as folder:
            ladder, rows = through_wrapper(pathlib.Path(folder), "ladder", "transpose", "--rungs", RUNGS, "--rows", "1000", "--cols", "515",
                                           "--metrics", "sm__cycles_active.avg")
            self.assertEqual(len(ladder["results"]), 4)
            self.assertIn("sm__cycles_active.avg", ladder["results"][0]["hardware"]["metrics"])
            print("compared", self.compare(ladder["results"], rows), "counters of transposes")

    def test_the_launches_of_a_product_are_combined(self):
        with tempfile.TemporaryDirectory() as folder:
            ladder, rows = through_wrapper(pathlib.Path(folder), "ladder", "gemm", "--rungs", "tiled,quadrants", "--m", "256")
            self.assertEqual([r["hardware"]["kernels"] for r in ladder["results"]], [1, 2])
            print("compared", self.compare(ladder["results"], rows), "counters of products")

    def test_profile_and_diff_have_them_too(self):
        for command in (("profile", "transpose/padded@32x8"), ("diff", "transpose/shared@32x8", "transpose/padded@32x8")):
            done = run(*command, "--rows", "512", "--on", "cuda", "--untimed", "--counters", "--format", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            shown = json.loads(done.stdout)
            for result in [shown] if command[0] == "profile" else [shown["from"], shown["to"]]:
                self.assertEqual(result["hardware"]["metrics"]["smsp__sass_inst_executed_op_shared_ld.sum"],
                                 result["metrics"]["smsp__sass_inst_executed_op_shared_ld.sum"])

    def test_compare_agrees_with_the_emulator(self):
        done = run("profile", "transpose/shared@32x32", "--rows", "1024", "--on", "cuda", "--untimed", "--compare", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        modelled = [counter for counter in result["comparison"] if counter["metric"] in result["metrics"]]
        self.assertEqual(len(modelled), 8)
        for counter in modelled:
            self.assertEqual(counter["emulator"], counter["hardware"], counter["metric"])

    def test_refusals(self):
        command = ("profile", "transpose/padded@32x8", "--rows", "64", "--on", "cuda", "--untimed", "--counters")
        for more, values in ((("--metrics", "smsp__nonsense.sum"), ["smsp__nonsense.sum", "--query-metrics"]),
                             (("--metrics", "dram__bytes"), ["dram__bytes", ".sum"]),
                             (("--ncu", "/bin/true"), ["/bin/true", "--version"]),
                             (("--ncu", "/no/such/ncu"), ["--ncu", "/no/such/ncu"]),
                             (("--ncu", "no-such-ncu"), ["'no-such-ncu'", "PATH"])):
            done = run(*command, *more)
            self.assertEqual(done.returncode, 1, more)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assert_names(done.stderr, *values)

    def test_the_program_under_ncu_writes_no_result(self):
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "result.json")
            done = run("profile", "transpose/padded@32x8", "--rows", "64", "--on", "cuda", "--untimed", "--counters", "--format", "json", "--output", output)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            self.assertIn("hardware", json.loads(pathlib.Path(output).read_text()))


if __name__ == "__main__":
    if reason := why_not():
        print(f"skipped: {reason}")
        sys.exit(77)
    script.main()
