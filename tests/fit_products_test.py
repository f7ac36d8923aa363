"""bench/fit_products.py predicts the same times as the library's policy. The formula is in both."""
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys

import script

try:
    import numpy
except ImportError:
    print("skipped: this Python has no numpy to fit with")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(os.environ["CORNERTURN_SOURCE_DIR"]) / "bench"))
import fit_products  # noqa: E402

ROWS = fit_products.kernels()
LOGS = fit_products.in_source(ROWS)


def explained(cell):
    """The text by which `cornerturn explain` explains the choice."""
    command = [os.environ["CORNERTURN"], "explain", "gemm", "--format", "json", "--offset", str(cell["offset"])]
    for key in ("m", "n", "k", "lda", "ldb", "ldc", "count"):
        command += [f"--{key}", str(cell[key])]
    command += [f"--{side}-transposed" for side in "ab" if cell[f"{side}_transposed"]]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["choice"]


def choices(cell, text):
    """Yields the choices of the kernel that the text names first, if they have the text's values: their names, and their
    predictions in microseconds."""
    at = {row["name"]: re.search(rf"\b{re.escape(row['name'])}\b", text) for row in ROWS}
    row = min((row for row in ROWS if at[row["name"]]), key=lambda row: (at[row["name"]].start(), -len(row["name"])))
    all_parts = {1, *map(int, re.findall(r"\d+", text))} - {0}
    for transposed, a, b, parts in itertools.product(("", ", of the transpose"), ("", ", A packed"), ("", ", B packed"), sorted(all_parts)):
        name = row["name"] + transposed + a + b + (f", {parts} parts" if parts > 1 else "")
        found = fit_products.facts(cell, name, ROWS)
        whole, in_parts, resident = found[1], found[2] // parts, found[5] // fit_products.MULTIPROCESSORS
        tiles = [whole] if parts == 1 else [whole, in_parts, parts]
        if script.names(text, row["name"], row["rows"], row["cols"], row["depth"], resident, *tiles):
            yield name, fit_products.predictions(LOGS, len(ROWS), numpy.array([found], float))[0]


def main():
    seed = int(os.environ.get("CORNERTURN_SEED", random.randrange(1 << 31)))
    print("seed", seed)
    draw, names = random.Random(seed), set()
    for _ in range(150):
        m, n, k = (round(16384 ** draw.random()) for _ in range(3))
        if draw.random() < 0.5:
            m, n, k = (size + -size % 4 for size in (m, n, k))
        a, b = draw.random() < 0.5, draw.random() < 0.5
        cell = {"m": m, "n": n, "k": k, "a_transposed": a, "b_transposed": b, "lda": (m if a else k) + draw.choice((0, 0, 3)),
                "ldb": (k if b else n) + draw.choice((0, 0, 3)), "ldc": n + draw.choice((0, 0, 3)),
                "offset": draw.choice((0, 1)), "c_offset": 0, "count": draw.choice((1, 1, 7))}
        cell["b_offset"] = cell["offset"]
        text = explained(cell)
        us, found = int(re.search(r"(\d+) us\b", text)[1]), dict(choices(cell, text))
        assert any(abs(predicted - us) <= 0.51 + 0.001 * us for predicted in found.values()), f"{cell}: {text}; predicted here: {found}"
        names.add(fit_products.parsed(next(iter(found)), ROWS)[0])
    assert len(names) > 5, f"hardly any kernel was chosen: {names}"
    print(f"{len(names)} of {len(ROWS)} kernels were chosen")


main()
