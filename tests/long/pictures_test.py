#!/usr/bin/env python3
"""The program's pictures are readable outside browsers too. librsvg and CairoSVG draw each of them. librsvg also draws it
without its style sheet, like programs that read only attributes. The drawing must have the colours of the light theme, and
every text must stand out from its background."""

import functools
import io
import math
import os
import re
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import script  # noqa: E402

RESULTS = Path(os.environ["CORNERTURN_SOURCE_DIR"], "results")
RANDOM = [f"bench_host_16_cores_random_{operation}_9202" for operation in ("transpose", "permute")] + \
         [f"bench_random_{operation}_3427" for operation in ("transpose", "permute")]
# (the result files of a report, without suffix; a pattern for the pictures of it to test)
REPORTS = [(["bench_transpose", "bench_gemm"], "*"), (["bench_python_permute"], "*"), (["why_conflicts"], "*"),
           ([f"ladder_transpose_{size}_f32" for size in ("4096x4096", "16384x16384")], "*_sizes"), (RANDOM, "headline")]
SVG = "{http://www.w3.org/2000/svg}"
ZOOM = 2
# WCAG's least contrast for large text. Thin letters drawn with grey edges reach it only at the middle of a stroke.
CONTRAST = 3

try:
    import cairosvg
    from PIL import Image
except ImportError:
    cairosvg = None


def with_librsvg(svg):
    return subprocess.run(["rsvg-convert", "--zoom", str(ZOOM)], input=svg.encode(), stdout=subprocess.PIPE, check=True).stdout


def with_cairosvg(svg):
    return cairosvg.svg2png(bytestring=svg.encode(), scale=ZOOM)


def attributes_alone(svg):
    return re.sub(r' class="[^"]*"', "", re.sub(r"<style>.*?</style>", "", svg, flags=re.DOTALL))


RENDERERS = {
    "librsvg": with_librsvg,
    "CairoSVG": with_cairosvg,
    "attributes alone": lambda svg: with_librsvg(attributes_alone(svg)),
}


@functools.cache
def pictures():
    """(name, SVG) of each picture of the reports, and of a warp's accesses."""
    found = {}
    for results, pattern in REPORTS:
        with TemporaryDirectory() as folder:
            command = [os.environ["CORNERTURN"], "report", *(RESULTS / f"{name}.json" for name in results)]
            subprocess.run([*command, "--plots", folder, "--output", f"{folder}/page.html"], check=True)
            found |= {path.name: path.read_text() for path in Path(folder).glob(f"{pattern}.svg")}
    with TemporaryDirectory() as folder:
        warp = Path(folder, "warp.svg")
        subprocess.run([os.environ["CORNERTURN"], "explain", "transpose/shared@16x16", "--rows", "64", "--svg", warp],
                       stdout=subprocess.DEVNULL, check=True)
        found[warp.name] = warp.read_text()
    return found.items()


def light_theme(svg):
    """The colours of the light theme, by name: those of the style sheet before its dark theme."""
    return {name: tuple(bytes.fromhex(digits)) for name, digits in
            re.findall(r"--([\w-]+):#([0-9a-f]{6})", svg.partition("@media")[0])}


@functools.cache
def drawn(renderer, svg):
    return Image.open(io.BytesIO(RENDERERS[renderer](svg))).convert("RGBA")


def luminance(colour):
    """WCAG 2's definition."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (channel / 255 for channel in colour[:3])]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def box_of(text):
    """The box of the text's first, middle or last character, depending on its anchor: the text must be visible there."""
    x, y, size = (float(text.get(name)) for name in ("x", "y", "font-size"))
    left = {"start": 0, "middle": -size / 2, "end": -size}[text.get("text-anchor")]
    turned = re.match(r"rotate\((\S+)", text.get("transform", "rotate(0"))
    angle = math.radians(float(turned[1].rstrip(")")))
    corners = [(x + dx * math.cos(angle) - dy * math.sin(angle), y + dx * math.sin(angle) + dy * math.cos(angle))
               for dx in (left, left + size) for dy in (-size * 0.8, size * 0.2)]
    across, down = zip(*corners)
    return [round(edge * ZOOM) for edge in (min(across), min(down), max(across), max(down))]


class Pictures(unittest.TestCase):
    def test_there_are_some(self):
        self.assertGreater(len(pictures()), 10)

    def test_colours(self):
        for picture, svg in pictures():
            theme = light_theme(svg)
            self.assertIn("ink", theme, picture)
            shapes = re.findall(r'<(?:rect|circle|polygon) class="([\w-]+)"', svg)
            wanted = {theme[name] for name in shapes if name in theme} | {theme["paper"]}
            # Colours without a class, such as those of a heat map or of a warp's lanes.
            wanted |= {tuple(bytes.fromhex(digits)) for digits in re.findall(r'<rect fill="#([0-9a-f]{6})"', svg)}
            for name in RENDERERS:
                with self.subTest(picture=picture, renderer=name):
                    image = drawn(name, svg)
                    found = {colour for _, colour in image.getcolors(image.width * image.height)}
                    self.assertGreater(len(found), 8, "it is of one colour, or nearly so")
                    self.assertEqual({c[3] for c in found}, {255}, "the background is transparent: a dark viewer shows it black")
                    self.assertEqual(wanted - {c[:3] for c in found}, set())
                    for corner in ((0, 0), (image.width - 1, image.height - 1)):
                        self.assertEqual(image.getpixel(corner)[:3], theme["paper"])

    def test_text_can_be_read(self):
        for picture, svg in pictures():
            without = re.sub(r"<text .*?</text>", "", svg, flags=re.DOTALL)
            texts = [text for text in ElementTree.fromstring(svg).iter(f"{SVG}text") if (text.text or "").strip(" .-")]
            self.assertGreater(len(texts), 5, picture)
            for name in RENDERERS:
                with self.subTest(picture=picture, renderer=name):
                    image, ground = (drawn(name, each).convert("RGB") for each in (svg, without))
                    faint = []
                    for text in texts:
                        box = box_of(text)
                        pairs = set(zip(image.crop(box).getdata(), ground.crop(box).getdata()))
                        if max(contrast(a, b) for a, b in pairs) < CONTRAST:
                            faint.append(text.text)
                    self.assertEqual(faint, [])


if __name__ == "__main__":
    if shutil.which("rsvg-convert") is None or cairosvg is None:
        print("skipped: rsvg-convert or CairoSVG is not there (scripts/install.sh --tests installs both)")
        sys.exit(77)
    script.main()
