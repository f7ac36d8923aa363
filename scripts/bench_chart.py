#!/usr/bin/env python3
"""Draws a stored `cornerturn bench transpose`, with what bench/peers.py added to it.

    scripts/bench_chart.py results/bench_transpose.json chart.svg     (or .png)

A panel an element size, a place a shape, a mark a contestant: its ratio to memcpy. Needs matplotlib.
"""

import argparse
import json
import pathlib
import sys

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from docs_test import CONTESTANTS, ratio_of  # what they are called, and their ratios, as in README's table

# One for each of them; those in host memory and on the GPU are in no chart together.
GPU_MARKS = [("o", "#0b6e4f"), ("s", "#7fb800"), ("v", "#b0413e"), ("^", "#f18f01"), ("D", "#5f6caf")]
MARKS = dict(zip(CONTESTANTS, GPU_MARKS + GPU_MARKS[1:] + [("v", "#b0413e")]))


def place_name(cell):
    """As the shape, but alike for all element sizes: the long side of a skinny matrix and a batch's count are not."""
    if cell["group"] == "skinny":
        return f"{cell['rows']} x many" if cell["rows"] < cell["cols"] else f"many x {cell['cols']}"
    if cell["count"] > 1:
        return f"many {cell['rows']} x {cell['cols']}"
    return cell["shape"]


def draw(document, path):
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "cornerturn", "font.size": 8, "axes.spines.top": False,
                                "axes.spines.right": False})
    sizes = sorted({cell["element_size"] for cell in document["cells"]})
    places, groups = [], []
    for cell in document["cells"]:
        if place_name(cell) not in places:
            places.append(place_name(cell))
            groups.append(cell["group"])
    figure, panels = pyplot.subplots(len(sizes), 1, sharex=True, sharey=True, squeeze=False,
                                     figsize=(9, 1.0 + 1.45 * len(sizes)), layout="constrained")
    for size, panel in zip(sizes, panels[:, 0]):
        for key, name in CONTESTANTS.items():
            marker, colour = MARKS[key]
            points = [(places.index(place_name(cell)), ratio_of(cell, key)) for cell in document["cells"] if cell["element_size"] == size]
            points = [point for point in points if point[1] is not None]
            if points:
                panel.plot(*zip(*points), linestyle="", marker=marker, markersize=5 if key == "subject" else 4, color=colour, label=name,
                           alpha=1 if key == "subject" else 0.8, zorder=3 if key == "subject" else 2)
        for i in range(1, len(places)):
            if groups[i] != groups[i - 1]:
                panel.axvline(i - 0.5, color="0.85", linewidth=0.8)
        panel.axhline(1, color="0.3", linewidth=0.8)
        panel.axhline(0.9, color="0.6", linewidth=0.6, linestyle=":")
        panel.set_ylim(bottom=0)
        panel.set_ylabel(f"{size} byte{'s' if size > 1 else ''}")
        panel.grid(axis="y", color="0.93", linewidth=0.6)
    panels[-1, 0].set_xticks(range(len(places)), places, rotation=60, ha="right", rotation_mode="anchor")
    handles = {label: handle for panel in panels[:, 0] for handle, label in zip(*panel.get_legend_handles_labels())}
    names = [name for name in dict.fromkeys(CONTESTANTS.values()) if name in handles]
    figure.legend([handles[name] for name in names], names, loc="outside upper center", ncols=len(names), frameon=False)
    figure.supylabel("ratio to memcpy, by element size")
    figure.savefig(path, dpi=160, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("chart", type=pathlib.Path)
    args = parser.parse_args()
    draw(json.loads(args.file.read_text()), args.chart)


if __name__ == "__main__":
    main()
