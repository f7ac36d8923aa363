#!/usr/bin/env python3
"""Measures how long batches of u8 images NHWC take to become normalised planes NCHW: by the package cornerturn, and by
what people use.

    bench/image_batches.py cuda --output results/images/cuda.json --commit ID    PyTorch and torchvision, on a GPU
    bench/image_batches.py host --output results/images/host.json --commit ID    also OpenCV and numpy, on all cores

The package and PyTorch must be installed. Other libraries are left out if they are not, and the result says so. All
results are verified before and after the timing. Each way makes a new result in each call, unless its name says
otherwise.

A round takes one sample of each way and one of a copy of as many bytes, half of them read and half written, in a new
random order. "of_copy" is the time of the copy divided by that of the way: 1 is a copy's speed. A sample is a single
call, after the caches were flushed: on the GPU between two CUDA events, in host memory by the wall clock. On the GPU the
flush takes longer than enqueuing the call, so only the GPU's own time counts. torchvision's call waits for the GPU, so
its time has that, too.
"""

import argparse
import datetime
import importlib
import json
import os
import pathlib
import random
import shlex
import subprocess
import sys

import numpy
import torch

import cornerturn
import peers
from calls import processor

BATCHES = "64x224x224,16x1080x1920,256x224x224"
TYPES = {"f32": torch.float32, "f16": torch.float16}
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # ImageNet's, for pixels from 0 to 1
PLANES = (0, 3, 1, 2)
FLUSH_BYTES = 1 << 30
REST = 0.02  # seconds: PyTorch's threads, which flush the caches, wait for more work, and would keep others from the cores


def of_tensors(images, to):
    """The ways in PyTorch's tensors, on a GPU or a CPU: {name: (what is called, the call)}."""
    mean, deviation = (torch.tensor(each, device=images.device) for each in (MEAN, DEVIATION))
    scale, bias = 1 / (255 * deviation), -mean / deviation
    mean, deviation, scales, biases = (each.view(3, 1, 1) for each in (mean, deviation, scale, bias))
    out = torch.empty([images.shape[axis] for axis in PLANES], dtype=to, device=images.device)

    def by_cornerturn(**more):
        return cornerturn.convert(images, to, PLANES, scale=scale, bias=bias, axis=1, **more)

    def step_by_step():
        planes = images.permute(PLANES).contiguous().float() / 255
        return ((planes - mean) / deviation).to(to)

    def few_passes(images):
        return (images.permute(PLANES) * scales + biases).to(to, memory_format=torch.contiguous_format)

    def by_torchvision():
        from torchvision.transforms.v2 import functional
        planes = functional.to_dtype(images.permute(PLANES), torch.float32, scale=True)
        return functional.normalize(planes, MEAN, DEVIATION).to(to, memory_format=torch.contiguous_format)

    torch.compiler.reset()
    compiled = torch.compile(few_passes, dynamic=False)
    convert = "cornerturn.convert(images, dtype, (0, 3, 1, 2), scale=scale, bias=bias, axis=1"
    steps = "((images.permute(0, 3, 1, 2).contiguous().float() / 255 - mean) / deviation).to(dtype)"
    few = "(images.permute(0, 3, 1, 2) * scale + bias).to(dtype, memory_format=torch.contiguous_format)"
    return {
        "cornerturn": (f"{convert})", by_cornerturn),
        "cornerturn, out given": (f"{convert}, out=out)", lambda: by_cornerturn(out=out)),
        "PyTorch compiled": (f"torch.compile of {few}", lambda: compiled(images)),
        "PyTorch, few passes": (few, lambda: few_passes(images)),
        "PyTorch, step by step": (steps, step_by_step),
        "torchvision": ("v2.functional.normalize(to_dtype(images.permute(0, 3, 1, 2), torch.float32, scale=True), "
                        "mean, deviation).to(dtype, memory_format=torch.contiguous_format)", by_torchvision),
    }


def of_arrays(images, to):
    """The ways in numpy's arrays, in host memory."""
    mean, deviation = (numpy.array(each, numpy.float32) for each in (MEAN, DEVIATION))
    scale, bias = 1 / (255 * deviation), -mean / deviation
    to = {torch.float32: numpy.float32, torch.float16: numpy.float16}[to]

    def by_opencv():
        import cv2
        how = cv2.dnn.Image2BlobParams()
        how.scalefactor, how.mean = scale.tolist(), (255 * mean).tolist()
        return cv2.dnn.blobFromImagesWithParams(list(images), how).astype(to, copy=False)

    def by_numpy():
        return numpy.ascontiguousarray((images * scale + bias).transpose(PLANES), dtype=to)

    return {"OpenCV": ("cv2.dnn.blobFromImagesWithParams(images, how).astype(dtype, copy=False)", by_opencv),
            "numpy": ("numpy.ascontiguousarray((images * scale + bias).transpose(0, 3, 1, 2), dtype)", by_numpy)}


def verify(name, result, images, to):
    """Ends the run if a result is not packed planes of the type, or if a value is off by more than roundings."""
    result = torch.from_numpy(result) if isinstance(result, numpy.ndarray) else result
    extents = [images.shape[axis] for axis in PLANES]
    if list(result.shape) != extents or result.dtype != to or not result.is_contiguous():
        raise peers.Wrong(f"{name}: {list(result.shape)}, {result.dtype}, strides {result.stride()}")
    # One rounding to f16. In f32, some of numbers that are larger than the result.
    tolerance = torch.finfo(to).eps * (1 if to == torch.float16 else 16)
    mean, deviation = (torch.tensor(each, dtype=torch.float64, device=images.device) for each in (MEAN, DEVIATION))
    for some, planes in zip(images.split(8), result.split(8)):  # all of them in f64 would need much memory
        wanted = some.double().div_(255).sub_(mean).div_(deviation).permute(PLANES)
        off = (planes - wanted).abs_()
        if not (off <= wanted.abs_().clamp_(min=1).mul_(tolerance)).all():
            raise peers.Wrong(f"{name}: a value is wrong")


def measure(images, to, timer, seconds, shuffle):
    """What a copy and each way take. Returns also why some ways are left out."""
    ways = of_tensors(images, to)
    if images.device.type == "cpu":
        ways |= of_arrays(images.numpy(), to)
    left_out = {}
    for name, (_, call) in ways.items():
        try:
            verify(name, call(), images, to)
        except peers.Wrong:
            raise
        except Exception as failure:  # not installed, no compiler, not enough memory
            left_out[name] = f"{type(failure).__name__}: {failure}".splitlines()[0]
    ways = {name: way for name, way in ways.items() if name not in left_out}
    size = images.numel() * (images.itemsize + to.itemsize)
    work = [peers.memcpy_of({"bytes": size}, images.device), *(call for _, call in ways.values())]
    copy, *taken = peers.sample_in_turn([timer.sampler(each, 1, True) for each in work], seconds, shuffle)
    for name, (_, call) in ways.items():
        verify(name, call(), images, to)
    found = {name: {"call": what, "verified": True, "time": time, "of_copy": copy["median_s"] / time["median_s"]}
             for (name, (what, _)), time in zip(ways.items(), taken)}
    return {"bytes": size, "copy": copy, "ways": found}, left_out


def described(on, threads):
    """The device, as the program describes it."""
    if on == "host":
        return {"kind": "host", "name": processor(), "cores": threads}
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[0]
    return {"kind": "cuda", "name": torch.cuda.get_device_name(), "driver": driver, "cuda": torch.version.cuda}


def versions(names):
    found = {}
    for name in names:
        try:
            found[name] = importlib.import_module({"opencv": "cv2"}.get(name, name)).__version__
        except ImportError:
            pass
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("on", choices=["cuda", "host"])
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--batches", default=BATCHES,
                        help="images x height x width, separated by commas (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=2,
                        help="for each batch and type; a way that needs more gets few samples (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commit", default="", help="the measured commit, which is stored in the results")
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    shuffle = random.Random(arguments.seed)
    threads = len(os.sched_getaffinity(0))
    torch.set_num_threads(threads)
    place = {"cuda": "cuda", "host": "cpu"}[arguments.on]
    timer = peers.EventTimer() if arguments.on == "cuda" else peers.WallTimer(REST)
    if arguments.on == "cuda":
        timer.cold = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device=place)
    rows, left_out = [], {}
    for batch in arguments.batches.split(","):
        extents = [int(extent) for extent in batch.split("x")] + [3]
        images = torch.randint(0, 256, extents, dtype=torch.uint8, device=place)
        for name, to in TYPES.items():
            row, without = measure(images, to, timer, arguments.seconds, shuffle)
            rows.append({"batch": batch, "type": name} | row)
            left_out |= without
            print(f"{batch} to {name}: copy {row['copy']['median_s'] * 1e6:.1f} us; "
                  + ", ".join(f"{way} {its['of_copy']:.2f}" for way, its in row["ways"].items()), flush=True)
    for name, reason in left_out.items():
        print(f"{name} is left out: {reason}")
    libraries = ["cornerturn", "torch", "torchvision", "numpy"] + ["opencv"] * (arguments.on == "host")
    document = {"kind": "images", "device": described(arguments.on, threads), "date": datetime.date.today().isoformat(),
                "commit": arguments.commit, "command": shlex.join(["bench/image_batches.py", *sys.argv[1:]]),
                "seed": arguments.seed, "versions": versions(libraries), "left_out": left_out, "rows": rows}
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except peers.Wrong as wrong:
        sys.exit(f"image_batches.py: {wrong}")
