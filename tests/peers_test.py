"""The parts of bench/peers.py that need neither PyTorch nor JAX: its arguments, and the positions of a cell's values."""

import importlib.util
import itertools
import json
import math
import os
import random
import subprocess
import sys
import unittest
from pathlib import Path

import script

SOURCE = Path(os.environ["CORNERTURN_SOURCE_DIR"])
PEERS, RESULTS = SOURCE / "bench" / "peers.py", SOURCE / "results"

# Bytes of an element of each type of a conversion.
SIZES = {"bool": 1, "u8": 1, "i8": 1, "e4m3fn": 1, "e5m2": 1, "u16": 2, "i16": 2, "f16": 2, "bf16": 2, "u32": 4, "i32": 4,
         "f32": 4, "u64": 8, "i64": 8, "f64": 8}

spec = importlib.util.spec_from_file_location("peers", PEERS)
peers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(peers)


def places(layout):
    """Yields the positions of each value in the source and in the destination, as torch.as_strided() computes them."""
    for index in itertools.product(*map(range, layout.extents)):
        yield (layout.source_offset + sum(i * stride for i, stride in zip(index, layout.source_strides)),
               layout.destination_offset + sum(i * stride for i, stride in zip(index, layout.destination_strides)))


class Cells(unittest.TestCase):
    def test_matrices(self):
        rng = random.Random(1)
        for _ in range(200):
            count, rows, cols, size = rng.randint(1, 3), rng.randint(1, 5), rng.randint(1, 5), rng.choice([1, 2, 3, 4, 6, 8, 12, 16])
            cell = {"count": count, "rows": rows, "cols": cols, "element_size": size, "source_ld": cols + rng.randint(0, 2),
                    "destination_ld": rows + rng.randint(0, 2), "source_offset": rng.randint(0, 2), "destination_offset": rng.randint(0, 2)}
            layout = peers.Layout(cell)
            parts = 3 if size in (3, 6, 12) else 1
            wanted = {(parts * (cell["source_offset"] + (m * rows + r) * cell["source_ld"] + c) + p,
                       parts * (cell["destination_offset"] + (m * cols + c) * cell["destination_ld"] + r) + p)
                      for m in range(count) for r in range(rows) for c in range(cols) for p in range(parts)}
            self.assertEqual(set(places(layout)), wanted, cell)
            furthest = max(source for source, _ in wanted)
            self.assertEqual(layout.source_offset + layout.span(layout.source_strides), furthest + 1)
            if cell["source_ld"] == cols and cell["destination_ld"] == rows:
                self.assertFalse(layout.has_gaps)
            elif count * rows * cols > 1 and rows > 1 and cols > 1:
                self.assertTrue(layout.has_gaps)

    def test_permutations(self):
        rng = random.Random(2)
        for _ in range(200):
            rank = rng.randint(2, 5)
            shape, axes = [rng.randint(1, 3) for _ in range(rank)], rng.sample(range(rank), rank)
            strides, extents, size = peers.packed(shape), [shape[axis] for axis in axes], rng.choice([1, 3, 12])
            named = {"source_extents": shape, "axes": axes, "element_size": size}
            drawn = {"extents": extents, "source_strides": [strides[axis] for axis in axes],
                     "destination_strides": peers.packed(extents), "element_size": size}
            # In the destination, one value after the other. In the source, each value once.
            found = list(places(peers.Layout(named)))
            self.assertEqual([to for _, to in found], list(range(len(found))))
            self.assertEqual(sorted(source for source, _ in found), list(range(len(found))))
            self.assertEqual(list(places(peers.Layout(drawn))), found)
            for layout in peers.Layout(named), peers.Layout(drawn):
                self.assertFalse(layout.has_gaps)
                self.assertEqual([layout.shape[axis] for axis in layout.axes], layout.extents)
            drawn["source_strides"] = [stride + 1 for stride in drawn["source_strides"]]
            self.assertEqual(peers.Layout(drawn).has_gaps, max(shape) > 1)

    def test_conversions(self):
        self.assertEqual(set(peers.TYPES), set(SIZES))
        cell = {"source_extents": [2, 3, 4], "axes": [2, 0, 1], "element_size": 2, "source_type": "u8", "destination_type": "f16",
                "factors": "each", "axis": 0}
        layout = peers.Layout(cell)
        self.assertEqual((layout.dtype, layout.destination_dtype), ("uint8", "float16"))
        self.assertEqual((layout.extents, layout.source_strides), ([4, 2, 3], [1, 12, 4]))
        plain = peers.Layout({"source_extents": [2, 3], "axes": [1, 0], "element_size": 4})
        self.assertEqual((plain.dtype, plain.destination_dtype), ("float32", "float32"))

    def test_stored_benches(self):
        paths = list(RESULTS.glob("bench_*.json"))
        self.assertTrue(paths)
        for path in paths:
            document = json.loads(path.read_text())
            if document["bench"] == "gemm":
                continue
            for cell in document["cells"]:
                layout = peers.Layout(cell)
                if "source_type" in cell:
                    sizes = sum(SIZES[cell[key]] for key in ("source_type", "destination_type"))
                else:
                    sizes = 2 * cell["element_size"] // peers.DTYPES[cell["element_size"]][1]
                self.assertEqual(math.prod(layout.extents) * sizes, cell["bytes"], (path, cell["shape"]))
                self.assertEqual([layout.shape[axis] for axis in layout.axes], layout.extents)
                if "axes" in cell:
                    self.assertFalse(layout.has_gaps)


class Arguments(script.NamesValues, unittest.TestCase):
    def run_peers(self, *arguments):
        return subprocess.run([sys.executable, PEERS, *map(str, arguments)], capture_output=True, text=True)

    def test_help_and_mistakes(self):
        self.assert_names(self.run_peers("--help").stdout, "--cells")
        for values, arguments in ((["'tensorflow'"], ["tensorflow", "bench.json"]),
                                  (["--cells", "'few'"], ["torch", "bench.json", "--cells", "few"])):
            done = self.run_peers(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assert_names(done.stderr.splitlines()[-1], *values)


if __name__ == "__main__":
    script.main()
