"""bench/image_batches.py: what it stores, and that it ends where a result is wrong."""

import importlib
import json
import math
import pathlib
import subprocess
import sys

import numpy
import pytest

torch = pytest.importorskip("torch")

BENCH = pathlib.Path(__file__).parents[2] / "bench"
BATCHES = "3x5x7", "1x8x16"
SIZES = {"f32": 4, "f16": 2}


@pytest.mark.parametrize("on", ["host", "cuda"])
def test_each_way_is_verified_and_timed(on, tmp_path):
    if on == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    output = tmp_path / "of/images.json"
    command = [sys.executable, BENCH / "image_batches.py", on, "--batches", ",".join(BATCHES), "--seconds", "0.01"]
    done = subprocess.run([*command, "--output", output], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    stored = json.loads(output.read_text())
    assert stored["device"]["kind"] == on and stored["versions"]["torch"] == torch.__version__
    assert [(row["batch"], row["type"]) for row in stored["rows"]] == [(batch, to) for batch in BATCHES for to in SIZES]
    everything = {"cornerturn", "cornerturn, out given", "PyTorch compiled", "PyTorch, few passes",
                  "PyTorch, step by step", "torchvision"} | ({"OpenCV", "numpy"} if on == "host" else set())
    for row in stored["rows"]:
        assert row["bytes"] == 3 * math.prod(map(int, row["batch"].split("x"))) * (1 + SIZES[row["type"]])
        assert sorted([*row["ways"], *stored["left_out"]]) == sorted(everything)
        assert {"cornerturn", "PyTorch, few passes", "PyTorch, step by step"} <= row["ways"].keys()
        for way in row["ways"].values():
            assert way["of_copy"] == pytest.approx(row["copy"]["median_s"] / way["time"]["median_s"])
            assert way["verified"] and way["time"]["samples"] > 0


@pytest.mark.parametrize("to", ["float32", "float16"])
def test_wrong_results_are_found(to, monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    bench = importlib.import_module("image_batches")
    to = getattr(torch, to)
    images = torch.randint(0, 256, (2, 3, 5, 3), dtype=torch.uint8)
    right = bench.of_tensors(images, to)["PyTorch, step by step"][1]()
    bench.verify("right", right, images, to)
    bench.verify("right", right.numpy(), images, to)
    wrong = right.clone()
    wrong[1, 2, 2, 4] += 0.01
    another = torch.float16 if to == torch.float32 else torch.float32
    not_a_number = right.clone()
    not_a_number[0, 0, 0, 0] = math.nan
    order = right.contiguous(memory_format=torch.channels_last)
    for each in (wrong, not_a_number, right.to(another), right[:1], order, numpy.flip(right.numpy(), 0).copy()):
        with pytest.raises(bench.peers.Wrong):
            bench.verify("wrong", each, images, to)
