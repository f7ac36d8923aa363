#!/usr/bin/env python3
"""Measures PyTorch, JAX and numpy in the cells of a stored `cornerturn bench`, and adds the results to its file.

    cornerturn bench transpose --format json --commit ID --output bench.json
    bench/peers.py torch bench.json    PyTorch's out.copy_(x), eager and with torch.compile; CuPy; and this project's package,
                                       cornerturn.copyto(out, x). Peers that are not installed are skipped.
    bench/peers.py jax bench.json      jit of jnp.transpose(x, axes); also needs PyTorch, for the yardstick
    bench/peers.py host bench.json     for a bench `--on host`: numpy, and PyTorch on the same number of threads

It measures grids and random cells (`--random`) of transposes, permutations and conversions. For PyTorch and numpy the source x
is a strided view whose axes are in the destination's order. An element of 3, 6 or 12 bytes becomes three elements of a dtype
that they have, along an additional last axis. Conversions are written as users write them: out.copy_(x), with x.to(f32) *
scale + bias before it if there are scales, and round() and clamp() if it must saturate. JAX does not measure conversions.

Run it once for each framework, because a framework keeps the memory that it has allocated. All cells come from the file. A
cell that already has the peer is skipped (unless --again), so a run that --minutes ended can be continued. The yardstick is
memcpy of the same bytes. It is measured again, and its samples alternate with those of the peer. "ratio" is relative to this
yardstick, and "ratio_to_bench" to that in the file.

PyTorch is timed as in the program: CUDA events around single calls, with the L2 cache flushed before each. A launch-bound
cell is timed warm, as one CUDA graph of 100 calls. JAX does not expose its stream, so a sample is the wall time of 20
consecutive calls, or 100 in a launch-bound cell. The calls use several sources in turn, so that no source is in the L2. If a
call ends before the next one is dispatched, the time includes the dispatch. In host memory a sample is the wall time of a
single call, with the caches flushed before, or of as many consecutive calls as a warm bench has. It uses the bench's number
of threads, and the yardstick is PyTorch's copy on these threads. "method" in the results describes this.
"""

import argparse
import ctypes
import datetime
import json
import math
import os
import pathlib
import random
import re
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

try:
    import numpy
    import torch
except ImportError:  # --help works without them
    numpy = torch = None

# By element size: the dtype as which an element is moved, and how many of them it consists of.
DTYPES = {1: ("uint8", 1), 2: ("float16", 1), 4: ("float32", 1), 8: ("float64", 1), 16: ("complex128", 1),
          3: ("uint8", 3), 6: ("float16", 3), 12: ("float32", 3)}
# By the name of an element type: PyTorch's dtype.
TYPES = {"bool": "bool", "u8": "uint8", "i8": "int8", "u16": "uint16", "i16": "int16", "u32": "uint32", "i32": "int32",
         "u64": "uint64", "i64": "int64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
         "e4m3fn": "float8_e4m3fn", "e5m2": "float8_e5m2"}
WIDE = {"u32", "i32", "u64", "i64", "f64"}  # with these on either side, scales are applied in f64
LEAST_SAMPLES, MOST_SAMPLES, WARM_UPS = 20, 200, 3
PATIENCE = 0.3  # seconds: a sampler that took longer in total gets no further samples
LAUNCH_BOUND_BYTES, GRAPH_CALLS, JAX_CALLS = 8 << 20, 100, 20
POISON = 99
PATTERN = 4194301  # random elements, which sources repeat. It is a prime, so that consecutive rows differ.


class Skipped(Exception):
    """A framework cannot do a cell, for the reason in the message."""


class Wrong(Exception):
    """A wrong result, which ends the run."""


def require(holds):
    if not holds:
        raise Wrong("the result is wrong")


def launch_bound(cell):
    return cell["bytes"] <= LAUNCH_BOUND_BYTES


def summary(seconds):
    p10, median, p90 = numpy.percentile(seconds, [10, 50, 90])
    return {"median_s": median, "p10_s": p10, "p90_s": p90, "samples": len(seconds)}


def sample_in_turn(samplers, seconds, shuffle):
    """Calls each of `samplers`, which return seconds, once per round. Each round has a new random order."""
    patience = max(seconds, PATIENCE)
    taken = [[] for _ in samplers]
    for sampler, its in zip(samplers, taken):
        for _ in range(WARM_UPS):
            first = sampler()
            if first > patience:  # too long for further warm-ups
                its.append(first)
                break
    order = list(range(len(samplers)))
    start, rounds = time.monotonic(), 0
    while rounds < LEAST_SAMPLES or (rounds < MOST_SAMPLES and time.monotonic() - start < seconds):
        shuffle.shuffle(order)
        rounds += 1
        for i in order:
            if sum(taken[i]) <= patience:
                taken[i].append(samplers[i]())
    return [summary(each) for each in taken]


# ---- Cells --------------------------------------------------------------------------------------------------------

def packed(extents):
    strides = [1] * len(extents)
    for i in range(len(extents) - 1, 0, -1):
        strides[i - 1] = strides[i] * extents[i]
    return strides


class Layout:
    """A cell as a copy between tensors: axes in the destination's order, strides and offsets in values of `dtype`."""

    def __init__(self, cell):
        if "rows" in cell:
            count, rows, cols, source_ld, destination_ld = (cell[key] for key in ("count", "rows", "cols", "source_ld", "destination_ld"))
            self.shape, self.axes = [count, rows, cols], [0, 2, 1]
            self.extents = [count, cols, rows]
            self.source_strides = [rows * source_ld, 1, source_ld]
            self.destination_strides = [cols * destination_ld, destination_ld, 1]
        elif "axes" in cell:
            self.shape, self.axes = list(cell["source_extents"]), list(cell["axes"])
            strides = packed(self.shape)
            self.extents, self.source_strides = ([each[axis] for axis in self.axes] for each in (self.shape, strides))
            self.destination_strides = packed(self.extents)
        else:
            self.extents, self.source_strides, self.destination_strides = (
                list(cell[key]) for key in ("extents", "source_strides", "destination_strides"))
            # The order of the axes in the source, if it is packed.
            order = sorted(range(len(self.extents)), key=lambda axis: (self.extents[axis] > 1, -self.source_strides[axis]))
            self.shape, self.axes = [self.extents[axis] for axis in order], [order.index(axis) for axis in range(len(order))]
        self.source_offset, self.destination_offset = cell.get("source_offset", 0), cell.get("destination_offset", 0)
        source = packed(self.shape)
        same = lambda strides, others: all(n == 1 or a == b for n, a, b in zip(self.extents, strides, others))
        self.has_gaps = not (same(self.source_strides, [source[axis] for axis in self.axes])
                             and same(self.destination_strides, packed(self.extents)))
        if "source_type" in cell:  # a conversion
            self.dtype, self.destination_dtype, parts = TYPES[cell["source_type"]], TYPES[cell["destination_type"]], 1
        else:
            self.dtype, parts = DTYPES[cell["element_size"]]
            self.destination_dtype = self.dtype
        if parts > 1:
            self.axes.append(len(self.shape))
            self.shape.append(parts)
            self.extents.append(parts)
            self.source_strides = [parts * stride for stride in self.source_strides] + [1]
            self.destination_strides = [parts * stride for stride in self.destination_strides] + [1]
            self.source_offset *= parts
            self.destination_offset *= parts

    def span(self, strides):
        """The number of values from the first to the last."""
        return 1 + sum((extent - 1) * stride for extent, stride in zip(self.extents, strides))


# ---- PyTorch ------------------------------------------------------------------------------------------------------

class EventTimer:
    """CUDA events on PyTorch's current stream."""

    def __init__(self):
        self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.cold = torch.empty(2 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.uint8, device="cuda")
        self.make_persisting_ordinary = self.find_reset()

    @staticmethod
    def find_reset():
        for name in (f"libcudart.so.{torch.version.cuda.split('.')[0]}", "libcudart.so"):
            try:
                return ctypes.CDLL(name).cudaCtxResetPersistingL2Cache
            except (OSError, AttributeError):
                pass
        return lambda: 0

    def sampler(self, work, calls, flush):
        def sample():
            if flush:
                self.make_persisting_ordinary()
                self.cold.zero_()
            self.begin.record()
            work()
            self.end.record()
            self.end.synchronize()
            return self.begin.elapsed_time(self.end) * 1e-3 / calls
        return sample


def in_graph(work):
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(GRAPH_CALLS):
            work()
    return graph.replay


def torch_tensors(cell, device="cuda"):
    """The filled source, as a view in the destination's order, and the poisoned destination."""
    layout = Layout(cell)
    if min(layout.source_strides) < 0:
        raise Skipped("has no tensors with negative strides")
    dtype, destination_dtype = (getattr(torch, name) for name in (layout.dtype, layout.destination_dtype))
    elements = layout.source_offset + layout.span(layout.source_strides)
    count = min(elements, PATTERN)
    if "source_type" in cell and not dtype.is_floating_point:
        some = torch.randint(0, 2 if dtype == torch.bool else 128, [count], device=device).to(dtype)
    elif "source_type" in cell:
        some = torch.randn([count], device=device).to(dtype)
    else:
        some = torch.empty(count, dtype=dtype, device=device)
        some.random_(0, 256) if dtype == torch.uint8 else some.normal_()
    # In bytes: PyTorch repeats few types of fp8 and of unsigned integers.
    source = some.view(torch.uint8).view(count, -1).repeat(-(-elements // PATTERN), 1)[:elements].reshape(-1).view(dtype)
    size = [layout.destination_offset + layout.span(layout.destination_strides)]
    destination = torch.full(size, POISON, device=device).to(destination_dtype)
    return (torch.as_strided(source, layout.extents, layout.source_strides, layout.source_offset),
            torch.as_strided(destination, layout.extents, layout.destination_strides, layout.destination_offset))


def copy_into(out, x, conversion=None):
    if conversion is None:
        out.copy_(x)
    else:
        conversion(out, x)


class Conversion:
    """What a user writes for the conversion of a cell. Its limits say where out.copy_(x) alone would not saturate."""

    def __init__(self, cell, rank, extents, device):
        source, destination, factors = cell["source_type"], cell["destination_type"], cell.get("factors", "none")
        to = getattr(torch, TYPES[destination])
        self.scale = self.bias = self.real = self.limits = None
        self.rounds = False
        if factors == "one":
            self.scale = 0.75
        elif factors == "each":
            along = [extents[axis] if axis == cell["axis"] else 1 for axis in range(rank)]
            self.scale, self.bias = (torch.rand(along, device=device) + 0.5 for _ in range(2))
        if factors != "none":
            self.real = torch.float64 if WIDE & {source, destination} else torch.float32
        if destination in ("e4m3fn", "e5m2"):
            self.limits = (torch.finfo(to).min, torch.finfo(to).max)
            self.real = self.real or torch.float32
        elif not to.is_floating_point and destination != "bool" and source != "bool":
            self.limits = (torch.iinfo(to).min, torch.iinfo(to).max)
            self.rounds = getattr(torch, TYPES[source]).is_floating_point or factors != "none"
        # How far a rounding, or two of them, may be off.
        self.tolerance = 2 * torch.finfo(to).eps if to.is_floating_point else 1

    def __call__(self, out, x):
        if self.real is not None:
            x = x.to(self.real)
        if self.scale is not None:
            x = x * self.scale
        if self.bias is not None:
            x = x + self.bias
        if self.rounds:
            x = x.round()
        if self.limits is not None:
            x = x.clamp(*self.limits)
        out.copy_(x)

    def holds(self, out, x):
        """Whether the destination is right, as far as another order of roundings can say."""
        wanted = x.double()
        if self.scale is not None:
            wanted = wanted * self.scale
        if self.bias is not None:
            wanted = wanted + self.bias
        if self.limits is not None:
            wanted = wanted.clamp(*self.limits)
        if out.dtype == torch.bool:
            return bool(torch.equal(out, wanted != 0))
        # Near 0, fp8 and f16 have fewer digits; and a sum with a bias loses those that cancel.
        return bool(((out.double() - wanted).abs() <= self.tolerance * wanted.abs().clamp(min=1)).all())


def work_of(cell, x, out, copy):
    """The call that is measured, and a function that says whether the destination is right."""
    if "source_type" not in cell:
        return lambda: copy(out, x), lambda: torch.equal(out, x)
    conversion = Conversion(cell, x.dim(), x.shape, x.device)
    return lambda: copy(out, x, conversion), lambda: conversion.holds(out, x)


def memcpy_of(cell, device="cuda"):
    """The yardstick: PyTorch copies contiguous tensors of bytes, with cudaMemcpyAsync or on all cores."""
    source, destination = (torch.ones(cell.get("sector_bytes", cell["bytes"]) // 2, dtype=torch.uint8, device=device) for _ in range(2))
    return lambda: destination.copy_(source)


def torch_entry(cell, copy, timer, seconds, shuffle):
    x, out = torch_tensors(cell)
    memcpy = memcpy_of(cell)
    work, is_right = work_of(cell, x, out, copy)

    def checked(work):
        out.copy_(torch.full([1], POISON, device=out.device))
        work()
        require(is_right())

    checked(work)
    calls, method = 1, "L2 flushed, single launches"
    if launch_bound(cell):
        calls, method = GRAPH_CALLS, f"warm, CUDA graph of {GRAPH_CALLS} launches"
        work, memcpy = in_graph(work), in_graph(memcpy)
    timed, yardstick = sample_in_turn([timer.sampler(each, calls, calls == 1) for each in (work, memcpy)], seconds, shuffle)
    checked(work)
    return {"method": method, "time": timed, "yardstick": yardstick}


def torch_peers(seconds, shuffle):
    timer = EventTimer()

    def compiled(cell):
        torch._dynamo.reset()  # without this, torch.compile stops compiling after a few shapes
        return torch_entry(cell, torch.compile(copy_into, dynamic=False, fullgraph=True), timer, seconds, shuffle)

    def cupy_into(out, x, conversion=None):
        import cupy

        if conversion is not None:
            raise Skipped("CuPy is measured on copies only")
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            cupy.copyto(cupy.asarray(out), cupy.asarray(x))

    def package_into(out, x, conversion=None):
        import cornerturn

        if conversion is None:
            cornerturn.copyto(out, x)
        elif isinstance(conversion.scale, torch.Tensor):
            axis = next(axis for axis, extent in enumerate(conversion.scale.shape) if extent > 1 or axis + 1 == conversion.scale.dim())
            cornerturn.convert(x, out.dtype, scale=conversion.scale.flatten(), bias=conversion.bias.flatten(), axis=axis, out=out)
        else:
            cornerturn.convert(x, out.dtype, scale=conversion.scale, out=out)

    def by(copy):
        return lambda cell: torch_entry(cell, copy, timer, seconds, shuffle)

    return {"torch": ("out.copy_(x)", by(copy_into)), "torch_compile": ("torch.compile of out.copy_(x)", compiled),
            "cupy": ("cupy.copyto(out, x)", by(cupy_into)), "python": ("cornerturn.copyto(out, x)", by(package_into))}


# ---- JAX ----------------------------------------------------------------------------------------------------------

def jax_peers(seconds, shuffle):
    import jax
    import jax.numpy as jnp
    jax.config.update("jax_enable_x64", True)
    timer = EventTimer()
    cold_bytes = 2 * timer.cold.numel()

    def source_of(layout):
        # Integers that every dtype can represent, spread by a multiplicative hash.
        fill = lambda: (jnp.arange(math.prod(layout.shape), dtype=jnp.uint32) * jnp.uint32(2654435761) >> 11
                        & 2047).astype(layout.dtype).reshape(layout.shape)
        return jax.jit(fill)()

    def wall(calls):
        begin, last = time.perf_counter(), None
        for call in calls:
            last = call()
        last.block_until_ready()
        return time.perf_counter() - begin

    def entry(cell):
        if "source_type" in cell:
            raise Skipped("JAX is measured on copies only")
        layout = Layout(cell)
        if layout.has_gaps:
            raise Skipped("JAX has no arrays with gaps or strides")
        if layout.source_offset or layout.destination_offset:
            raise Skipped("JAX has no arrays with an offset")
        back = [layout.axes.index(axis) for axis in range(len(layout.axes))]
        transpose = jax.jit(lambda x: jnp.transpose(x, layout.axes))
        same = jax.jit(lambda x, transposed: jnp.all(x == jnp.transpose(transposed, back)))
        x = source_of(layout)
        checked = lambda: require(bool(same(x, transpose(x))))
        checked()
        if launch_bound(cell):
            method, sources, calls = f"warm, wall time of {GRAPH_CALLS} calls", [x], GRAPH_CALLS
        else:
            # Before a source is used again, the others have replaced it in the L2.
            size = math.prod(layout.extents) * x.dtype.itemsize
            sources = [x] + [source_of(layout) for _ in range(min(JAX_CALLS - 1, -(-cold_bytes // size)))]
            calls = JAX_CALLS
            method = f"wall time of {calls} calls in a row on {len(sources)} sources in turn"
        turns = [lambda source=source: transpose(source) for source in sources]
        sampler = lambda: wall([turns[i % len(turns)] for i in range(calls)]) / calls
        # The yardstick is timed like JAX: consecutive calls hide launches, and no flush leaves lines to be written back.
        copies = [memcpy_of(cell) for _ in sources]
        memcpys = in_graph(copies[0]) if launch_bound(cell) else lambda: [copies[i % len(copies)]() for i in range(calls)]
        timed, yardstick = sample_in_turn([sampler, timer.sampler(memcpys, calls, False)], seconds, shuffle)
        checked()
        return {"method": method, "time": timed, "yardstick": yardstick}

    return {"jax": ("jax.jit of jnp.transpose(x, axes)", entry)}


# ---- Host memory --------------------------------------------------------------------------------------------------

def host_cache_bytes():
    try:
        return max(os.sysconf("SC_LEVEL3_CACHE_SIZE"), 32 << 20)
    except (ValueError, OSError):
        return 32 << 20


class WallTimer:
    """The wall time of calls in host memory. After a flush it rests for some seconds."""

    def __init__(self, rest=0):
        self.rest = rest
        self.cold = torch.ones(2 * host_cache_bytes(), dtype=torch.uint8)

    def sampler(self, work, calls, flush):
        def sample():
            if flush:
                self.cold.max()
                time.sleep(self.rest)
            begin = time.perf_counter()
            for _ in range(calls):
                work()
            return (time.perf_counter() - begin) / calls
        return sample


def host_peers(seconds, shuffle):
    timer = WallTimer()

    def entry(cell, copy):
        x, out = torch_tensors(cell, "cpu")
        work, is_right = work_of(cell, x, out, copy)
        warm = re.fullmatch(r"warm, (\d+) calls in a row", cell["method"])
        calls = int(warm[1]) if warm else 1
        samplers = [timer.sampler(each, calls, calls == 1) for each in (work, memcpy_of(cell, "cpu"))]
        timed, yardstick = sample_in_turn(samplers, seconds, shuffle)
        require(is_right())
        return {"method": cell["method"] if warm else "caches flushed, single calls", "time": timed, "yardstick": yardstick}

    def numpy_into(out, x, conversion=None):
        if conversion is None:
            out.numpy()[...] = x.numpy()
            return
        if {out.dtype, x.dtype} & {torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2}:
            raise Skipped("numpy has no such element type")
        y = x.numpy()
        if conversion.real is not None:
            y = y.astype("float64" if conversion.real == torch.float64 else "float32")
        for factor, apply in ((conversion.scale, numpy.multiply), (conversion.bias, numpy.add)):
            if factor is not None:
                y = apply(y, factor.numpy() if isinstance(factor, torch.Tensor) else y.dtype.type(factor))
        if conversion.rounds:
            y = numpy.rint(y)
        if conversion.limits is not None:
            y = numpy.clip(y, *conversion.limits)
        numpy.copyto(out.numpy(), y, casting="unsafe")

    return {"numpy": ("out[...] = x", lambda cell: entry(cell, numpy_into)),
            "torch_host": ("out.copy_(x)", lambda cell: entry(cell, copy_into))}


# ---- The file -----------------------------------------------------------------------------------------------------

def finished(cell, kernel, entry):
    """The entry in the form in which the program writes its own peers."""
    if "reason" in entry:
        return {"kernel": kernel, "status": "skipped", "reason": entry["reason"]}
    median, yardstick = entry["time"]["median_s"], entry["yardstick"]
    done = {"kernel": kernel, "status": "ran", "verified": True, "method": entry["method"], "time": entry["time"],
            "bandwidth_gbps": cell["bytes"] / median / 1e9, "ratio": yardstick["median_s"] / median, "yardstick": yardstick}
    if "time" in cell["yardstick"]:
        done["ratio_to_bench"] = cell["yardstick"]["time"]["median_s"] / median
    return done


def measure(cell, run):
    try:
        if cell.get("in_place"):
            raise Skipped("takes a source and a destination")
        return run(cell)
    except Wrong as wrong:
        sys.exit(f"peers.py: {cell['shape']} of {cell['element_size']}: {wrong}")
    except Skipped as why:
        return {"reason": str(why)}
    except Exception as failure:  # mostly out of memory, for which each framework has its own exception
        return {"reason": f"{type(failure).__name__}: {str(failure).strip().splitlines()[0] if str(failure).strip() else ''}"}
    finally:
        if torch.cuda.is_initialized():
            torch.cuda.empty_cache()


def store(path, document):
    """Writes one cell per line, as the program does. Replaces the file only when the new one is complete."""
    head = {key: value for key, value in document.items() if key != "cells"}
    lines = ",\n  ".join(json.dumps(cell, separators=(",", ":")) for cell in document["cells"])
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps(head, separators=(",", ":"))[:-1] + ', "cells": [\n  ' + lines + "\n]}\n")
    partial.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("framework", choices=["torch", "jax", "host"])
    parser.add_argument("file", type=pathlib.Path, help="output of `cornerturn bench --format json`, to which the results are added")
    parser.add_argument("--peers", help="peers of the framework, separated by commas (default: all)")
    parser.add_argument("--cells", type=int, help="measure only this many cells, from the first on (default: all)")
    parser.add_argument("--seconds-per-cell", type=float, default=0.3)
    parser.add_argument("--minutes", type=float, default=60, help="start no further cell after this time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="also measure cells that already have the peer")
    args = parser.parse_args()
    document = json.loads(args.file.read_text())
    if torch is None:
        sys.exit("peers.py: needs PyTorch and numpy")
    torch.manual_seed(args.seed)
    if (args.framework == "host") != (document["device"]["kind"] == "host"):
        sys.exit(f"peers.py: {args.file} was measured on {document['device']['kind']}, where {args.framework} does not run: "
                 "`host` needs a bench --on host, and `torch` and `jax` need a bench on a GPU")
    if args.framework == "host":
        torch.set_num_threads(document["device"]["cores"])
    find = {"torch": torch_peers, "jax": jax_peers, "host": host_peers}[args.framework]
    peers = find(args.seconds_per_cell, random.Random(args.seed))
    wanted = args.peers.split(",") if args.peers else list(peers)
    unknown = [name for name in wanted if name not in peers]
    if unknown:
        sys.exit(f"peers.py: {args.framework} has no peer {', '.join(unknown)}; it has {', '.join(peers)}")
    version = {"torch": lambda: torch.__version__, "jax": lambda: sys.modules["jax"].__version__,
               "host": lambda: f"{torch.__version__}, numpy {numpy.__version__}"}[args.framework]()
    device = document["device"]["name"] if args.framework == "host" else torch.cuda.get_device_name(0)
    made = {"version": version, "date": datetime.date.today().isoformat(), "device": device,
            "command": " ".join(["bench/peers.py"] + sys.argv[1:])}
    todo = [(cell, name) for cell in document["cells"][:args.cells] if cell["status"] == "ran" for name in wanted
            if args.again or name not in cell["peers"]]
    begin = time.monotonic()
    for done, (cell, name) in enumerate(todo):
        if time.monotonic() - begin > 60 * args.minutes:
            print(f"peers.py: {len(todo) - done} of {len(todo)} measurements are left: run it again to continue")
            break
        kernel, run = peers[name]
        entry = cell["peers"][name] = finished(cell, kernel, measure(cell, run)) | {"date": made["date"]}
        print(f"{name}: {cell['shape']} of {cell['element_size']}: {entry.get('reason') or round(entry['ratio'], 3)}", flush=True)
        runs = document.setdefault("frameworks", {}).setdefault(args.framework, [])
        if made not in runs:
            runs.append(made)
        store(args.file, document)


if __name__ == "__main__":
    main()
