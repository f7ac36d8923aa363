#!/usr/bin/env python3
"""Fits the costs of the kernels for products to measured times.

    cornerturn bench gemm --random 300 --seed 1 --regret --format json --output times.json
    bench/fit_products.py times.json...

Each cell of such a bench has the time of every candidate that the library can choose. The script prints the rows of
kGemmKernels (src/ops/gemm/kernels/tunings.hpp) and the constants of policy.cpp that predict these times best. It also prints
the regret before and after: how much longer the chosen candidate takes than the best one. The formula is that of policy.cpp.
Needs numpy and PyTorch.

The loss has two terms. One is the error of the predictions, with a high weight for good candidates. The other is the expected
regret if a candidate is chosen with a higher probability the faster it seems. The first term alone would give too much weight
to candidates that are never chosen. With the second term alone, predictions would choose well but would not be times.
"""
import argparse
import json
import math
import pathlib
import re

import numpy

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "src" / "ops" / "gemm" / "kernels"
NUMBER = r"\s*([-+\d.e]+)\s*"
ROW = re.compile(r'\{"([^"]+)", k(\w+), ([-\d, ]+),\s*\{' + ",".join([NUMBER] * 5) +
                 (r",\s*\{" + ",".join([NUMBER] * 3) + r"\}") * 2 + "," + NUMBER + r"\}\}")
COSTS = ("step_us", "alone_us", "block_us", "each_us", "memory_tb_s", "a_words", "a_along_k", "a_fours_along_k", "b_words",
         "b_along_k", "b_fours_along_k", "odd")
CONSTANTS = ("kFirstUs", "kPackUs", "kPackedFloats", "kGatherUs", "kGatheredFloats", "kLastWave")
# For warm measurements: their kFirstUs, and the factor of memory_tb_s. The library's choices do not depend on these.
WARM = (1.5, 3.0)
MULTIPROCESSORS, SCHEDULERS, SHARED_BYTES = 132, 4, 228 << 10  # of an H100 or H200, where the times must be measured
CACHE_ALONG_K = 32 << 10
VECTORS, WORDS, ALONG_K, FOURS_ALONG_K = range(4)


def kernels():
    """The rows of kGemmKernels."""
    rows = []
    for found in ROW.finditer((SOURCE / "tunings.hpp").read_text()):
        names = ("rows", "cols", "slices", "deep", "stages", "warps_down", "warps_across", "down", "across", "resident",
                 "chunk", "part_chunk")
        row = dict(zip(names, map(int, found[3].split(","))), name=found[1], family=found[2], fields=found[3],
                   costs=[float(found[i]) for i in range(4, 4 + len(COSTS))])
        row["depth"] = row["slices"] * (16 // row["down"] if row["family"] == "Columns" else row["deep"])
        row["warps"] = row["slices"] * row["warps_down"] * row["warps_across"]
        rows.append(row)
    return rows


def constants():
    text = (SOURCE / "policy.cpp").read_text()
    return [float(re.search(rf"{name} = ([\d.e+]+)[,;]", text)[1]) for name in CONSTANTS]


def in_source(rows):
    """The logarithms of the costs and constants in the source."""
    return numpy.log([cost for row in rows for cost in row["costs"]] + constants() + list(WARM))


def up(a, b):
    return -(-a // b)


def takes_fours_along_k(row):
    return row["family"] == "Tiles" and row["down"] * row["across"] <= 32


def resident(row, chunks, path_a=VECTORS, path_b=VECTORS):
    shared = 0
    if row["family"] == "Outer":
        shared = 4 * (row["rows"] * (row["deep"] + 4) + row["deep"] * (row["cols"] + row["warps_down"] + row["across"]))
    if row["family"] == "Dots":
        shared = 4 * row["warps"] * row["stages"] * row["down"] * (row["deep"] + 4)
    if row["family"] == "Tiles":
        extents = (row["rows"], row["cols"])
        unused = (max(extent if takes_fours_along_k(row) else 0, 4 * row["depth"]) for extent in extents)
        in_loop = row["stages"] * (sum(extents) * row["depth"] + sum(unused))
        in_loop += row["rows"] * row["cols"] * row["slices"] if chunks else 0
        sums = row["rows"] * (row["cols"] + 4) * row["slices"]
        shared = 4 * (in_loop if row["slices"] == 1 else max(in_loop, sums))
    registers = row["resident"]
    if path_a == path_b == FOURS_ALONG_K and takes_fours_along_k(row) and registers > 2:
        registers = registers * 3 // 4
    fit = min(registers, SHARED_BYTES // (shared + 1024))
    along_k = max(path_a, path_b) >= ALONG_K
    return min(fit, max(2, (SHARED_BYTES - CACHE_ALONG_K) // (shared + 1024))) if along_k else fit


def paths(cell, transposed):
    """How the kernel loads A and B, and whether it stores C by fours (policy.cpp: paths_of, stores_fours)."""
    m, n, k, count = (cell[key] for key in ("m", "n", "k", "count"))

    def path(along_k, offset, ld, extent, rows):
        aligned = offset % 4 == 0 and ld % 4 == 0 and (k if along_k else extent) % 4 == 0
        aligned = aligned and (count == 1 or rows * ld % 4 == 0)
        return (FOURS_ALONG_K if aligned else ALONG_K) if along_k else VECTORS if aligned else WORDS

    a = path(not cell["a_transposed"], cell["offset"], cell["lda"], m, k if cell["a_transposed"] else m)
    b = path(cell["b_transposed"], cell["b_offset"], cell["ldb"], n, n if cell["b_transposed"] else k)
    fours = cell["c_offset"] % 4 == 0 and cell["ldc"] % 4 == 0 and (count == 1 or m * cell["ldc"] % 4 == 0)
    return (b, a, False) if transposed else (a, b, fours)


def parsed(name, rows):
    """Parses a name from name_of() in policy.cpp: kernel, transposed, A packed, B packed, parts."""
    index = max((i for i, row in enumerate(rows) if name.startswith(row["name"])), key=lambda i: len(rows[i]["name"]))
    rest = name[len(rows[index]["name"]):]
    parts = re.search(r", (\d+) parts", rest)
    return index, ", of the transpose" in rest, ", A packed" in rest, ", B packed" in rest, int(parts[1]) if parts else 1


def facts(cell, name, rows):
    """The inputs of a prediction, as numbers."""
    index, transposed, pack_a, pack_b, parts = parsed(name, rows)
    row, k, count = rows[index], cell["k"], cell["count"]
    m, n = (cell["n"], cell["m"]) if transposed else (cell["m"], cell["n"])
    path_a, path_b, fours = paths(cell, transposed)
    packed = 0
    if pack_a:
        path_a, packed = VECTORS, packed + up(m, 4) * 4 * k * count
    if pack_b:
        path_b, packed = VECTORS, packed + up(n, 4) * 4 * k * count
    c_off = cell["c_offset"] | cell["ldc"] | (cell["m"] * cell["ldc"] if count > 1 else 0)
    left = row["warps_down"] - 1 if row["family"] == "Outer" and c_off % row["warps_down"] else 0
    tiles, steps = up(m, row["rows"]) * up(n + left, row["cols"]) * count, max(1, up(k, row["depth"]))
    rounds = tiles // MULTIPROCESSORS
    whole = tiles
    if parts > 1:
        fills = row["family"] == "Tiles" and rounds >= resident(row, False)
        whole = rounds * MULTIPROCESSORS if fills else 0
    in_parts = (tiles - whole) * parts
    chunks = row["family"] == "Tiles" and ((whole > 0 and steps > row["chunk"]) or
                                        (parts > 1 and up(steps, parts) > row["part_chunk"]))
    places = resident(row, chunks, path_a, path_b) * MULTIPROCESSORS
    return [index, whole, in_parts, steps, steps / parts, places, path_a, path_b, whole > 0 and not fours,
            pack_a + pack_b, packed, 4 * count * (m * k + n * k + m * n), in_parts * row["rows"] * row["cols"],
            cell.get("method", "").startswith("warm"), max(1, SCHEDULERS // row["warps"])]


def predictions(logs, kinds, table, of=numpy):
    """Microseconds, for each line of the table. `of` is numpy, or torch for tensors."""
    values = of.exp(logs)
    costs = values[:kinds * len(COSTS)].reshape(kinds, len(COSTS))[of.asarray(table[:, 0], dtype=of.int64)].T
    first, pack, packed_floats, gather, gathered_floats, last_wave, warm_first, warm_memory = (
        values[kinds * len(COSTS):])
    one, none = of.ones_like(table[:, 0]), of.zeros_like(table[:, 0])
    slower = one
    for column, factors in ((6, costs[5:8]), (7, costs[8:11])):
        for path, factor in zip((WORDS, ALONG_K, FOURS_ALONG_K), factors):
            slower = slower * of.where(table[:, column] == path, factor, one)
    block_us = costs[2] * of.where(table[:, 8] > 0, costs[11], one)

    def blocks_us(blocks, steps):
        waves = blocks / table[:, 5]
        at_a_time = of.where(waves <= 1, of.ceil(blocks / MULTIPROCESSORS), table[:, 5] / MULTIPROCESSORS)
        filled = of.ceil(at_a_time / table[:, 14]) * table[:, 14]
        step = slower * of.sqrt(costs[1] ** 2 + (filled * costs[0]) ** 2)
        waves = of.where(waves <= 1, one, waves + (of.ceil(waves) - waves) * last_wave)
        return of.where(blocks > 0, waves * (steps * step + block_us + at_a_time * costs[3]), none)

    warm = table[:, 13] > 0
    us = of.where(warm, warm_first * one, first * one)
    us = us + table[:, 11] / (1e6 * costs[4] * of.where(warm, warm_memory * one, one))
    us = us + table[:, 9] * pack + table[:, 10] / packed_floats
    us = us + blocks_us(table[:, 1], table[:, 3]) + blocks_us(table[:, 2], table[:, 4])
    return us + of.where(table[:, 2] > 0, gather + table[:, 12] / gathered_floats, none)


def regrets(us, measured, cell_of):
    """The regrets of all cells, sorted."""
    all_regrets = []
    for cell in range(cell_of.max() + 1):
        lines = numpy.flatnonzero(cell_of == cell)
        all_regrets.append(measured[lines[numpy.argmin(us[lines])]] / measured[lines].min() - 1)
    return sorted(all_regrets)


def fitted(before, kinds, table, measured, cell_of, steps=400):
    """The logarithms of the costs and constants that predict best."""
    import torch  # only this function needs it

    likely = 0.05          # a candidate that seems faster by this share is e times as likely to be chosen
    regret_weight = 0.3    # relative to the error of predictions
    near_before = 0.00001  # weight of changes: values that the data do not determine stay
    table, us, cell_of = torch.tensor(table), torch.tensor(measured), torch.tensor(cell_of)
    cells = int(cell_of.max()) + 1
    best = torch.full((cells,), math.inf, dtype=us.dtype).scatter_reduce(0, cell_of, us, "amin")[cell_of]
    weights = torch.where(us < 1.25 * best, 9.0, 1.0) * torch.where(us < 2 * best, 1.0, 0.3)
    lost = torch.clamp(us / best - 1, max=1)
    before = torch.tensor(before)
    logs = before.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([logs], lr=0.03)
    slowly = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        optimizer.zero_grad()
        predicted = torch.log(predictions(logs, kinds, table, torch))
        misses = torch.nn.functional.huber_loss(predicted, torch.log(us), reduction="none", delta=0.2)
        seems = -predicted / likely
        highest = torch.full((cells,), -math.inf, dtype=us.dtype).scatter_reduce(0, cell_of, seems.detach(), "amax")
        chances = torch.exp(seems - highest[cell_of])
        chances = chances / torch.zeros(cells, dtype=us.dtype).index_add(0, cell_of, chances)[cell_of]
        loss = 2 * (weights * misses).sum() / weights.sum() + regret_weight * (chances * lost).sum() / cells
        (loss + near_before * ((logs - before) ** 2).sum()).backward()
        optimizer.step()
        slowly.step()
    return logs.detach().numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="JSON of `cornerturn bench gemm --random N --regret`")
    rows, table, measured, cell_of, cells = kernels(), [], [], [], 0
    for path in parser.parse_args().results:
        for cell in json.loads(pathlib.Path(path).read_text())["cells"]:
            medians = cell.get("regret", {}).get("medians_s", {})
            for name, seconds in medians.items():
                line = facts(cell, name, rows)
                if line[5] > 0:
                    table.append(line)
                    measured.append(seconds * 1e6)
                    cell_of.append(cells)
            cells += bool(medians)
    if not table:
        parser.error("no cell of these results has a regret: measure them with cornerturn bench gemm --regret")
    table, measured, cell_of = numpy.array(table, float), numpy.array(measured), numpy.array(cell_of)
    before = in_source(rows)
    after = fitted(before, len(rows), table, measured, cell_of)
    print(f"{len(measured)} times of {cells} products")
    for name, logs in (("before", before), ("after", after)):
        us = predictions(logs, len(rows), table)
        found = regrets(us, measured, cell_of)
        shares = ", ".join(f"{share:.0%} {found[int(share * len(found))]:.3f}" for share in (0.5, 0.75, 0.9, 0.95, 0.99))
        error = math.sqrt(numpy.mean(numpy.log(measured / us) ** 2))
        print(f"{name}: regret {shares}, mean {numpy.mean(found):.3f}; a prediction is off by {error:.0%}")
    costs = numpy.maximum(0.01, numpy.exp(after[:len(rows) * len(COSTS)])).reshape(-1, len(COSTS))  # 0.01: none prints as 0
    for row, cost in zip(rows, costs):
        step, alone, block, each, memory, *factors, odd = cost
        of_a, of_b = (", ".join(f"{factor:.2f}" for factor in side) for side in (factors[:3], factors[3:]))
        print(f'    {{"{row["name"]}", k{row["family"]}, {row["fields"]},\n     {{{step:.3f}, {alone:.3f}, {block:.2f}, '
              f'{each:.3f}, {memory:.1f}, {{{of_a}}}, {{{of_b}}}, {odd:.2f}}}}},')
    for name, value in zip(CONSTANTS, numpy.exp(after[len(rows) * len(COSTS):])):
        print(f"{name} = {f'{value:.0f}' if value > 1000 else f'{value:.3g}'}")


if __name__ == "__main__":
    main()
