#!/usr/bin/env python3
"""Measures the time of small calls from Python: of the package cornerturn, and of the calls that it replaces.

    bench/calls.py cuda --output calls.json    until a call on a GPU is enqueued: PyTorch, CuPy and JAX
    bench/calls.py host --output calls.json    until a call in host memory is done: numpy and PyTorch

A sample is the wall time of CALLS consecutive calls, divided by CALLS. It starts when the GPU is idle. A round takes one
sample of each call, in a new random order. Results are checked first. The package must be installed. Libraries that are not
installed are skipped. "ratio" is the median of a call, divided by that of the first call in its group.
"""

import argparse
import datetime
import json
import os
import random
import statistics
import sys
import time

import numpy

import cornerturn

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
CALLS, ROUNDS, WARM_UPS = 300, 41, 3


def processor():
    with open("/proc/cpuinfo") as info:
        return next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "")


def measure(group, calls, wait, shuffle):
    """The time of each call: the median, the minimum and the 90th percentile of its rounds."""
    taken = {name: [] for name in calls}
    for round in range(-WARM_UPS, ROUNDS):
        order = list(calls)
        shuffle.shuffle(order)
        for name in order:
            call = calls[name]
            wait()
            start = time.perf_counter()
            for _ in range(CALLS):
                call()
            seconds = (time.perf_counter() - start) / CALLS
            if round >= 0:
                taken[name].append(seconds)
    wait()
    first = statistics.median(taken[next(iter(calls))])
    return [{"group": group, "call": name, "median_us": statistics.median(its) * 1e6, "min_us": min(its) * 1e6,
             "p90_us": sorted(its)[int(0.9 * len(its))] * 1e6, "ratio": statistics.median(its) / first}
            for name, its in taken.items()]


def torch_calls(device):
    import torch

    import cornerturn.torch

    x = torch.randn(64, 64, device=device)
    view, out = x.t(), torch.empty(64, 64, device=device)
    for result in (cornerturn.contiguous(view), cornerturn.transpose(x), torch.ops.cornerturn.permute(x, (1, 0))):
        assert torch.equal(result, view) and result.is_contiguous()
    compiled = torch.compile(lambda x: x.t().contiguous())
    assert torch.equal(compiled(x), view)
    return {
        "x.t().contiguous()": lambda: x.t().contiguous(),
        "cornerturn.transpose(x)": lambda: cornerturn.transpose(x),
        "cornerturn.contiguous(x.t())": lambda: cornerturn.contiguous(x.t()),
        "out.copy_(x.t())": lambda: out.copy_(x.t()),
        "cornerturn.copyto(out, x.t())": lambda: cornerturn.copyto(out, x.t()),
        "cornerturn.transpose(x, out=out)": lambda: cornerturn.transpose(x, out=out),
        "torch.ops.cornerturn.permute(x, (1, 0))": lambda: torch.ops.cornerturn.permute(x, (1, 0)),
        "compiled x.t().contiguous()": lambda: compiled(x),
        "x + x": lambda: x + x,
        "torch.empty_like(x)": lambda: torch.empty_like(x),
    }


def cupy_calls():
    import cupy

    x = cupy.random.rand(64, 64, dtype=numpy.float32)
    assert (cornerturn.transpose(x) == x.T).all()
    return {
        "cupy.ascontiguousarray(x.T)": lambda: cupy.ascontiguousarray(x.T),
        "cornerturn.transpose(x)": lambda: cornerturn.transpose(x),
    }


def jax_calls():
    import jax

    import cornerturn.jax

    assert jax.default_backend() == "gpu"
    x = jax.numpy.asarray(numpy.random.rand(64, 64).astype(numpy.float32))
    its, ours = jax.jit(lambda x: jax.numpy.transpose(x)), jax.jit(cornerturn.jax.transpose)
    assert (numpy.asarray(ours(x)) == numpy.asarray(its(x))).all()
    return {"jitted jax.numpy.transpose(x)": lambda: its(x), "jitted cornerturn.jax.transpose(x)": lambda: ours(x)}


def numpy_calls():
    x = numpy.random.rand(32, 32).astype(numpy.float32)
    view = x.T
    assert (cornerturn.contiguous(view) == view).all()
    return {
        "numpy.ascontiguousarray(x.T)": lambda: numpy.ascontiguousarray(x.T),
        "cornerturn.contiguous(x.T)": lambda: cornerturn.contiguous(x.T),
        "cornerturn.transpose(x)": lambda: cornerturn.transpose(x),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("on", choices=["cuda", "host"])
    parser.add_argument("--output", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commit", default="", help="the measured commit, which is stored in the results")
    arguments = parser.parse_args()
    shuffle = random.Random(arguments.seed)

    groups, device, wait = {}, "", lambda: None
    if arguments.on == "cuda":
        import torch

        device, wait = torch.cuda.get_device_name(), torch.cuda.synchronize
        groups = {"torch": lambda: torch_calls("cuda"), "cupy": cupy_calls, "jax": jax_calls}
    else:
        device = processor()
        groups = {"numpy": numpy_calls, "torch": lambda: torch_calls("cpu")}
    rows, versions = [], {"cornerturn": cornerturn.__version__, "numpy": numpy.__version__}
    for group, make in groups.items():
        try:
            calls = make()
        except ImportError as missing:
            print(f"{group}: skipped, {missing}", file=sys.stderr)
            continue
        versions[group] = sys.modules[group].__version__
        rows += measure(group, calls, wait, shuffle)
    result = {"kind": "calls", "on": arguments.on, "device": device, "date": datetime.date.today().isoformat(),
              "commit": arguments.commit, "command": f"bench/calls.py {arguments.on} --seed {arguments.seed} --commit {arguments.commit}", "seed": arguments.seed,
              "calls_a_sample": CALLS, "rounds": ROUNDS, "versions": versions, "rows": rows}
    with open(arguments.output, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    for row in rows:
        print(f"{row['group']:6} {row['call']:42} {row['median_us']:8.2f} us {row['ratio']:6.2f}")


if __name__ == "__main__":
    main()
