"""The report command: its pages, plots and links, the exit codes of its errors, and that a failed report leaves no
files."""

import errno
import json
import os
import re
import unittest
import xml.etree.ElementTree
from pathlib import Path
from tempfile import TemporaryDirectory

import script
from cli_test import Case

RESULTS = Path(os.environ["CORNERTURN_SOURCE_DIR"], "results")
LADDER, TRANSPOSES, PRODUCTS = (RESULTS / name for name in
                                ("ladder_transpose_16384x16384_f32.json", "bench_transpose.json", "bench_gemm.json"))


def parse(text):
    """An XML tree, or a ParseError. Pages must be well-formed XML, too."""
    return xml.etree.ElementTree.fromstring(text.replace("<!DOCTYPE html>", ""))


class Report(Case):
    def setUp(self):
        folder = TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def files(self):
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*"))

    def test_html(self):
        page = self.succeed("report", LADDER)
        parse(page)
        self.assertIn("transpose/padded@32x8", page)
        self.assertEqual(self.succeed("report", LADDER, "--format", "html", "--output", self.folder / "a.html"), "")
        self.assertEqual((self.folder / "a.html").read_text(), page)
        self.assertEqual(self.files(), ["a.html"])

    def test_markdown(self):
        text = self.succeed("report", LADDER, PRODUCTS, "--format", "markdown")
        self.assertRegex(text, r"\A# [^\n]*\b2\b[^\n]*\n")
        stored = next(r for r in json.loads(LADDER.read_text())["results"] if r["kernel"] == "transpose/production")
        median, ratio = stored["time"]["median_s"] * 1e6, stored["ratio"]
        self.assertRegex(text, rf"(?m)^\| `transpose/production` +\| +{median:,.1f} \| .* \| +{ratio:.3f} \|$")
        self.assertNotIn("![", text)

    def test_plots(self):
        plots = self.folder / "deep" / "a b"
        page = self.folder / "page.md"
        self.succeed("report", LADDER, TRANSPOSES, PRODUCTS, "--format", "markdown", "--output", page, "--plots", plots)
        links = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text())
        names = sorted(path.name for path in plots.iterdir())
        self.assertEqual(sorted(links), [f"deep/a%20b/{name}" for name in names])
        for name in ("ladder_transpose_16384x16384_f32.svg", "bench_transpose.svg", "bench_gemm.svg", "bench_gemm_roofline.svg"):
            self.assertIn(name, names)
        for path in plots.iterdir():
            self.assertEqual(parse(path.read_text()).tag, "{http://www.w3.org/2000/svg}svg")
        # An HTML page contains its plots.
        before = self.files()
        self.succeed("report", LADDER, "--output", self.folder / "page.html", "--plots", plots)
        self.assertEqual(set(self.files()) - set(before), {"page.html"})

    def test_results_of_the_emulator(self):
        for family, sizes in (("transpose", ("--rows", 100, "--cols", 70)), ("gemm", ("--m", 40))):
            stored = self.folder / f"{family}.json"
            self.succeed("ladder", family, *sizes, "--on", "emulator", "--format", "json", "--output", stored)
            page = self.succeed("report", stored)
            parse(page)
            for claim in ("median", " us", "GB/s", "GFLOP/s"):
                self.assertNotIn(claim, page)
        stored = self.folder / "profile.json"
        self.succeed("profile", "transpose/padded@32x8", "--on", "emulator", "--lines", "--format", "json", "--output", stored)
        self.assert_names(self.succeed("report", stored), "transpose/padded@32x8", "1024 x 1024 f32")

    def test_layouts_are_shown_and_not_mixed(self):
        stored = []
        for name, layout in (("packed", ()), ("gaps", ("--source-ld", 80, "--destination-offset", 1))):
            stored.append(self.folder / f"{name}.json")
            self.succeed("ladder", "transpose", "--rows", 64, *layout, "--on", "emulator", "--format", "json", "--output", stored[-1])
        self.assertIn("64 x 64, source-ld 80, destination-offset 1 f32", self.succeed("report", stored[1]))
        both = json.loads(stored[0].read_text())
        both["results"] += json.loads(stored[1].read_text())["results"]
        stored[0].write_text(json.dumps(both))
        self.refuse(1, [stored[0], "64 x 64, source-ld 80, destination-offset 1 f32", "64 x 64 f32"], "report", stored[0])

    def test_a_pipe(self):
        os.mkfifo(self.folder / "pipe")
        pid = os.fork()
        if pid == 0:
            (self.folder / "pipe").write_bytes(LADDER.read_bytes())
            os._exit(0)
        self.assertIn("transpose/padded@32x8", self.succeed("report", self.folder / "pipe"))
        os.waitpid(pid, 0)

    def test_misuse(self):
        self.refuse(2, ["RESULTS"], "report")
        self.refuse(2, ["--format", "'pdf'", "html", "markdown"], "report", LADDER, "--format", "pdf")
        self.refuse(2, ["--plots"], "report", LADDER, "--plots", "")
        copy = self.folder / "copy.json"
        copy.write_bytes(LADDER.read_bytes())
        self.refuse(2, ["--output", copy], "report", copy, "--output", copy)
        self.assertEqual(copy.read_bytes(), LADDER.read_bytes())

    def test_a_failed_report_writes_nothing(self):
        broken = {"missing.json": None, "truncated.json": LADDER.read_text()[:5000], "text.json": "no JSON", "empty.json": "",
                  "other.json": json.dumps({"kernels": []}), "folder.json": "", "bytes.json": "\0\0"}
        for name, text in broken.items():
            if text is not None:
                (self.folder / name).write_text(text)
        (self.folder / "folder.json").unlink()
        (self.folder / "folder.json").mkdir()
        before = self.files()
        for name in broken:
            for results in ([self.folder / name], [LADDER, self.folder / name]):
                self.refuse(1, [str(self.folder / name)], "report", *results, "--output", self.folder / "page.html", "--plots", self.folder / "plots")
        self.assertEqual(self.files(), before)
        # If a folder has a plot's name, not even the page is written.
        (self.folder / "plots" / "bench_gemm_squares.svg").mkdir(parents=True)
        self.refuse(1, ["bench_gemm_squares.svg"], "report", PRODUCTS, "--output", self.folder / "page.html", "--plots", self.folder / "plots")
        self.assertEqual(self.files(), sorted(before + ["plots", "plots/bench_gemm_squares.svg"]))
        plots, page = self.folder / "text.json" / "plots", self.folder / "nowhere" / "page.html"
        self.refuse(1, [plots, os.strerror(errno.ENOTDIR)], "report", PRODUCTS, "--plots", plots)
        self.refuse(1, [page, os.strerror(errno.ENOENT)], "report", PRODUCTS, "--output", page)


if __name__ == "__main__":
    script.main()
