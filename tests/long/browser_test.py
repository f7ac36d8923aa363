"""Reports in a browser: headless Chromium opens them from disk, wide and light, and dark and as narrow as a phone. The page
may print nothing to the console and may not scroll sideways. In drawings no text may be cut off, overlap another text or be
too small to read. With CORNERTURN_SCREENSHOTS=FOLDER the test saves a picture of each page."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import script  # noqa: E402

PROGRAM = os.environ["CORNERTURN"]
RESULTS = Path(os.environ["CORNERTURN_SOURCE_DIR"], "results")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SCHEMES = {"light": "1", "dark": "0"}
VIEWS = (("light", 1400), ("dark", 390))  # two are enough: the scheme does not change widths, nor the width colours

# Shows the page in a frame, because Chromium opens no window narrower than 500 pixels. Writes its measurements of the page
# to its own title, as JSON.
WRAPPER = """<!DOCTYPE html><html><body style="margin:0"><iframe id="f" src="{page}" style="border:0;width:{width}px;height:{height}px"></iframe>
<script>
onload = () => {{
  const inside = document.getElementById("f").contentWindow, page = inside.document, wrong = [];
  const root = page.documentElement, box = (of) => of.getBoundingClientRect();
  for (const of of page.querySelectorAll("svg")) {{
    const frame = box(of), texts = [...of.querySelectorAll("text")].filter((t) => t.textContent), name = of.querySelector("title").textContent;
    for (const t of texts) {{
      const b = box(t), size = parseFloat(inside.getComputedStyle(t).fontSize);
      if (b.left < frame.left - 1 || b.right > frame.right + 1 || b.top < frame.top - 1 || b.bottom > frame.bottom + 1) wrong.push(`${{name}}: cut off: ${{t.textContent}}`);
      if (size < 11) wrong.push(`${{name}}: of ${{size}} pixels: ${{t.textContent}}`);
    }}
    const flat = texts.filter((t) => !t.getAttribute("transform")).map((t) => [box(t), t.textContent]);
    for (let i = 0; i < flat.length; ++i) for (let j = 0; j < i; ++j) {{
      const [a, at] = flat[i], [b, bt] = flat[j];
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4) wrong.push(`${{name}}: ${{at}} lies on ${{bt}}`);
    }}
  }}
  document.title = JSON.stringify({{width: inside.innerWidth, needs: root.scrollWidth, paper: inside.getComputedStyle(root).backgroundColor,
    ink: inside.getComputedStyle(page.body).color, drawings: page.querySelectorAll("svg").length, wrong: wrong.slice(0, 20)}});
}};
</script></body></html>"""


def brightness(colour):
    return sum(map(int, re.findall(r"\d+", colour)[:3]))


def perturbed(source, factor):
    """The same ladder, but every other rung took `factor` times as long."""
    stored = json.loads(source.read_text())
    for result in stored["results"][::2]:
        if "time" in result:
            for key in ("median_s", "p10_s", "p90_s"):
                result["time"][key] *= factor
            result["ratio"] /= factor
    stored["results"][3]["verified"], stored["results"][3]["fault"] = False, "row 3, column 5 is wrong"
    return json.dumps(stored)


class Browser(unittest.TestCase):
    def setUp(self):
        folder = TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def browse(self, page, scheme, width, *more):
        ran = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--allow-file-access-from-files",
                              f"--user-data-dir={self.folder / 'profile'}", f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
                              "--enable-logging=stderr", "--v=0", f"--window-size={max(width, 500)},900", *more, page.as_uri()],
                             capture_output=True, text=True, errors="replace", timeout=120)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual([line for line in ran.stderr.splitlines() if ":CONSOLE" in line], [], page.name)
        return ran.stdout

    def check(self, name, *results):
        page = self.folder / f"{name}.html"
        subprocess.run([PROGRAM, "report", *map(str, results), "--output", str(page)], check=True)
        self.check_page(name, page)

    def check_page(self, name, page):
        papers = set()
        for scheme, width in VIEWS:
            with self.subTest(page=name, scheme=scheme, width=width):
                wrapper = self.folder / f"{name}_{scheme}_{width}.html"
                wrapper.write_text(WRAPPER.format(page=page.as_uri(), width=width, height=900))
                printed = self.browse(wrapper, scheme, width, "--dump-dom")
                measured = json.loads(html.unescape(re.search(r"<title>(.*?)</title>", printed, re.S)[1]))
                self.assertEqual(measured["wrong"], [])
                self.assertEqual(measured["width"], width)
                self.assertLessEqual(measured["needs"], width, "the page scrolls sideways")
                self.assertGreater(measured["drawings"], 0)
                self.assertGreater(abs(brightness(measured["paper"]) - brightness(measured["ink"])), 400)
                papers.add((scheme, measured["paper"]))
                if shots := os.environ.get("CORNERTURN_SCREENSHOTS"):
                    wrapper.write_text(WRAPPER.format(page=page.as_uri(), width=width, height=3000))
                    self.browse(wrapper, scheme, width, f"--screenshot={Path(shots, wrapper.stem).resolve()}.png", f"--window-size={max(width, 500)},3000")
        self.assertEqual(len({paper for _, paper in papers}), 2, "light and dark differ")

    def test_ladder(self):
        self.check("ladder", RESULTS / "ladder_transpose_16384x16384_f32.json")

    def test_ladder_of_products(self):
        self.check("products", RESULTS / "ladder_gemm_4096x4096x4096.json", RESULTS / "ladder_gemm_1024x1024x1024.json")

    def test_emulated(self):
        stored = self.folder / "emulated.json"
        subprocess.run([PROGRAM, "ladder", "transpose", "--on", "emulator", "--rows", "256", "--format", "json", "--output", str(stored)], check=True)
        self.check("emulated", stored)

    def test_bench(self):
        self.check("bench", RESULTS / "bench_transpose.json")

    def test_bench_on_the_host(self):
        self.check("host", RESULTS / "bench_transpose_host.json")

    def test_bench_of_products(self):
        self.check("bench_gemm", RESULTS / "bench_gemm.json")
        self.check("roofline", RESULTS / "bench_gemm.json", RESULTS / "bench_transpose.json")

    def test_counters(self):
        self.check("counters", *sorted(RESULTS.glob("counters_*.json")))

    def test_side_by_side(self):
        before = RESULTS / "ladder_transpose_16384x16384_f32.json"
        after = self.folder / "after.json"
        after.write_text(perturbed(before, 1.1))
        self.check("side_by_side", before, after)

    def test_pictures_of_warps(self):
        pictures = []
        for kernel in ("transpose/shared@16x16", "transpose/naive_read@32x8", "transpose/vectorized@8x32", "gemm/swizzled"):
            picture = self.folder / f"{len(pictures)}.svg"
            subprocess.run([PROGRAM, "explain", kernel, "--svg", str(picture)] + (["--m", "128"] if kernel.startswith("gemm") else []), check=True, stdout=subprocess.DEVNULL)
            pictures.append(f'<div style="overflow-x:auto">{picture.read_text()}</div>')
        page = self.folder / "pictures_page.html"
        page.write_text("<!DOCTYPE html><html style='background:var(--paper);color:var(--ink)'><title>warps</title><body>" + "".join(pictures))
        self.check_page("pictures", page)

    def test_sizes(self):
        self.check("sizes", *sorted(RESULTS.glob("ladder_transpose_*.json")))


if __name__ == "__main__":
    if BROWSER is None:
        print("skipped: there is no chromium (scripts/install.sh --all installs it)")
        sys.exit(77)
    script.main()
