"""bench/fit_products.py predicts what the library's policy predicts: the formula stands in both."""
import json
import os
import pathlib
import random
import re
import subprocess
import sys

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
    """The name and the time of what is chosen, as `cornerturn explain` tells them."""
    command = [os.environ["CORNERTURN"], "explain", "gemm", "--format", "json", "--offset", str(cell["offset"])]
    for key in ("m", "n", "k", "lda", "ldb", "ldc", "count"):
        command += [f"--{key}", str(cell[key])]
    command += [f"--{side}-transposed" for side in "ab" if cell[f"{side}_transposed"]]
    text = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["choice"]
    name = re.match(r"gemm/production: (.*?): tiles of", text)[1]
    transposed = "of C's transpose" in text
    name += ", of the transpose" if transposed else ""
    sides = "BA" if transposed else "AB"  # those that the kernel takes for A and B
    for kernels_own, side in zip("AB", sides):
        if re.search(rf"; {side} [^;]* first;", text):
            name += f", {kernels_own} packed"
    parts = re.search(r" in (\d+) parts along k", text)
    name += f", {parts[1]} parts" if parts else ""
    return name, int(re.search(r"estimated at (\d+) us", text)[1])


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
        name, us = explained(cell)
        table = numpy.array([fit_products.facts(cell, name, ROWS)], float)
        predicted = fit_products.predictions(LOGS, len(ROWS), table)[0]
        assert abs(predicted - us) <= 0.51 + 0.001 * us, f"{cell}: {name} is estimated at {us} us, and here at {predicted}"
        names.add(fit_products.parsed(name, ROWS)[0])
    assert len(names) > 5, f"hardly any kernel was chosen: {names}"
    print(f"{len(names)} of {len(ROWS)} kernels were chosen")


main()
