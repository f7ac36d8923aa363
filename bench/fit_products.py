#!/usr/bin/env python3
"""Fit the costs of the kernels for products to what they took.

    cornerturn bench gemm --random 300 --seed 1 --regret --format json --output times.json
    bench/fit_products.py times.json...

A cell of such a bench has the time of every way in which the library could have computed it. This prints the rows of
kGemmKernels (src/ops/gemm/kernels/tunings.hpp) and the constants of policy.cpp beside it that predict them best, and
the regret before and after: by how much what is chosen takes longer than the best. The formula is that of policy.cpp.
It needs numpy and scipy.
"""
import argparse
import json
import math
import pathlib
import re

import numpy

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "src" / "ops" / "gemm" / "kernels"
ROW = re.compile(r'    \{"([^"]+)", k(\w+), ([-\d, ]+), \{([\d.]+), ([\d.]+), ([\d.]+), \{([\d.]+), ([\d.]+)\}, ([\d.]+)\}\},')
COSTS = ("step_us", "alone_us", "block_us", "words", "along_k", "odd")
CONSTANTS = ("kFirstUs", "kPackUs", "kPackedFloats", "kGatherUs", "kGatheredFloats", "kMemoryBytes", "kLastWave")
MULTIPROCESSORS, SHARED_BYTES = 132, 228 << 10  # of an H100 or H200: measure there
VECTORS, WORDS, ALONG_K = range(3)


def kernels():
    """The rows of kGemmKernels."""
    rows = []
    for line in (SOURCE / "tunings.hpp").read_text().splitlines():
        found = ROW.match(line)
        if not found:
            continue
        names = ("rows", "cols", "slices", "deep", "stages", "warps_down", "warps_across", "down", "across", "resident",
                 "chunk", "part_chunk")
        row = dict(zip(names, map(int, found[3].split(","))), name=found[1], way=found[2], fields=found[3],
                   costs=[float(found[i]) for i in range(4, 10)])
        row["depth"] = row["slices"] * {"Tiles": row["deep"], "Dots": 32, "Columns": 16 // row["down"]}[row["way"]]
        rows.append(row)
    return rows


def constants():
    text = (SOURCE / "policy.cpp").read_text()
    return [float(re.search(rf"{name} = ([\d.e]+)[,;]", text)[1]) for name in CONSTANTS]


def up(a, b):
    return -(-a // b)


def resident(row, chunks):
    shared = 0
    if row["way"] == "Tiles":
        stages = row["stages"] * row["depth"] * (row["rows"] + row["cols"] + 8)
        sums = row["rows"] * (row["cols"] + 4) * row["slices"]
        shared = 4 * (stages if row["slices"] == 1 else max(stages, sums))
        shared += 4 * row["rows"] * row["cols"] * row["slices"] if chunks else 0
    return min(row["resident"], SHARED_BYTES // (shared + 1024))


def paths(cell, transposed):
    """How A and B lie for the kernel, and whether C is stored by fours (policy.cpp: paths_of, stores_fours)."""
    m, n, k, count = (cell[key] for key in ("m", "n", "k", "count"))

    def path(along_k, offset, ld, extent, rows):
        if along_k:
            return ALONG_K
        aligned = offset % 4 == 0 and ld % 4 == 0 and extent % 4 == 0 and (count == 1 or rows * ld % 4 == 0)
        return VECTORS if aligned else WORDS

    a = path(not cell["a_transposed"], cell["offset"], cell["lda"], m, k if cell["a_transposed"] else m)
    b = path(cell["b_transposed"], cell["b_offset"], cell["ldb"], n, n if cell["b_transposed"] else k)
    fours = cell["c_offset"] % 4 == 0 and cell["ldc"] % 4 == 0 and (count == 1 or m * cell["ldc"] % 4 == 0)
    return (b, a, False) if transposed else (a, b, fours)


def parsed(name, rows):
    """name_of() of policy.cpp, read back: kernel, transposed, A packed, B packed, parts."""
    index = max((i for i, row in enumerate(rows) if name.startswith(row["name"])), key=lambda i: len(rows[i]["name"]))
    rest = name[len(rows[index]["name"]):]
    parts = re.search(r", (\d+) parts", rest)
    return index, ", of the transpose" in rest, ", A packed" in rest, ", B packed" in rest, int(parts[1]) if parts else 1


def facts(cell, name, rows):
    """What a prediction depends on, as numbers."""
    index, transposed, pack_a, pack_b, parts = parsed(name, rows)
    row, k, count = rows[index], cell["k"], cell["count"]
    m, n = (cell["n"], cell["m"]) if transposed else (cell["m"], cell["n"])
    path_a, path_b, fours = paths(cell, transposed)
    packed = 0
    if pack_a:
        path_a, packed = VECTORS, packed + up(m, 4) * 4 * k * count
    if pack_b:
        path_b, packed = VECTORS, packed + up(n, 4) * 4 * k * count
    tiles, steps = up(m, row["rows"]) * up(n, row["cols"]) * count, max(1, up(k, row["depth"]))
    rounds = tiles // MULTIPROCESSORS
    whole = tiles
    if parts > 1:
        fills = row["way"] == "Tiles" and rounds >= resident(row, False)
        whole = rounds * MULTIPROCESSORS if fills else 0
    in_parts = (tiles - whole) * parts
    chunks = row["way"] == "Tiles" and ((whole > 0 and steps > row["chunk"]) or
                                        (parts > 1 and up(steps, parts) > row["part_chunk"]))
    places = resident(row, chunks) * MULTIPROCESSORS
    return [index, whole, in_parts, steps, steps / parts, places, path_a, path_b, whole > 0 and not fours,
            pack_a + pack_b, packed, 4 * count * (m * k + n * k + m * n), in_parts * row["rows"] * row["cols"]]


def predictions(logs, kinds, table):
    """Microseconds, for each line of the table."""
    costs = numpy.exp(logs[:kinds * len(COSTS)]).reshape(-1, len(COSTS))[table[:, 0].astype(int)]
    first, pack, packed_floats, gather, gathered_floats, memory, last_wave = numpy.exp(logs[kinds * len(COSTS):])
    slower = numpy.ones(len(table))
    for column in (6, 7):
        slower *= numpy.where(table[:, column] == WORDS, costs[:, 3], 1)
        slower *= numpy.where(table[:, column] == ALONG_K, costs[:, 4], 1)
    block_us = costs[:, 2] * numpy.where(table[:, 8] > 0, costs[:, 5], 1)

    def blocks_us(blocks, steps):
        waves = blocks / table[:, 5]
        at_a_time = numpy.where(waves <= 1, numpy.ceil(blocks / MULTIPROCESSORS), table[:, 5] / MULTIPROCESSORS)
        step = slower * numpy.maximum(costs[:, 1], at_a_time * costs[:, 0])
        waves = numpy.where(waves <= 1, 1, waves + (numpy.ceil(waves) - waves) * last_wave)
        return numpy.where(blocks > 0, waves * (steps * step + block_us), 0)

    us = first + table[:, 11] / memory + table[:, 9] * pack + table[:, 10] / packed_floats
    us += blocks_us(table[:, 1], table[:, 3]) + blocks_us(table[:, 2], table[:, 4])
    return us + numpy.where(table[:, 2] > 0, gather + table[:, 12] / gathered_floats, 0)


def regrets(us, measured, cell_of):
    """Of each cell, sorted."""
    all_regrets = []
    for cell in range(cell_of.max() + 1):
        lines = numpy.flatnonzero(cell_of == cell)
        all_regrets.append(measured[lines[numpy.argmin(us[lines])]] / measured[lines].min() - 1)
    return sorted(all_regrets)


def main():
    from scipy.optimize import least_squares  # which nothing else needs

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
        parser.error("no cell of these results has a regret: measure them with --regret")
    table, measured, cell_of = numpy.array(table, float), numpy.array(measured), numpy.array(cell_of)
    before = numpy.log([cost for row in rows for cost in row["costs"]] + constants())
    best = numpy.full(cells, math.inf)
    numpy.minimum.at(best, cell_of, measured)
    weights = numpy.where(measured < 1.25 * best[cell_of], 3, 1)  # what is good matters most

    def residuals(logs):
        misses = numpy.log(measured / predictions(logs, len(rows), table))
        return numpy.concatenate([weights * misses, 0.3 * (logs - before)])

    after = least_squares(residuals, before, max_nfev=30).x
    print(f"{len(measured)} times of {cells} products")
    for name, logs in (("before", before), ("after", after)):
        us = predictions(logs, len(rows), table)
        found = regrets(us, measured, cell_of)
        shares = ", ".join(f"{share:.0%} {found[int(share * len(found))]:.3f}" for share in (0.5, 0.75, 0.9, 0.95, 0.99))
        error = math.sqrt(numpy.mean(numpy.log(measured / us) ** 2))
        print(f"{name}: regret {shares}, mean {numpy.mean(found):.3f}; a prediction is off by {error:.0%}")
    costs = numpy.exp(after[:len(rows) * len(COSTS)]).reshape(-1, len(COSTS))
    for row, cost in zip(rows, costs):
        step, alone, block, words, along_k, odd = cost
        print(f'    {{"{row["name"]}", k{row["way"]}, {row["fields"]}, '
              f'{{{step:.3f}, {alone:.3f}, {block:.2f}, {{{words:.2f}, {along_k:.2f}}}, {odd:.2f}}}}},')
    for name, value in zip(CONSTANTS, numpy.exp(after[len(rows) * len(COSTS):])):
        print(f"{name} = {value:.3g}")


if __name__ == "__main__":
    main()
