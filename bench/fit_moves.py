#!/usr/bin/env python3
"""Fits the predicted costs of moves to measured times, and writes the constants of src/move/machine.hpp.

    bench/fit_moves.py --program build/cuda/bin/cornerturn --count 1200 --seed 1 --times times   # on the GPU
    bench/fit_moves.py times/*.json                                                              # anywhere
    bench/fit_moves.py --further times/*.json       # begins with the constants of machine.hpp, for fewer times
    bench/fit_moves.py --only packed times/*.json   # leaves all others as they are, for a new kernel

The first command draws copies (bench/draw_moves.py), times every way to make each (`cornerturn bench permute --cells FILE
--regret`), and stores the times. One in ten of 1200 is timed in the L2: without such times, choices for small shapes get
worse. The second command fits. It prints the regret, which is how much longer the chosen way takes than
the best one: first with cells that the fit has not seen (four times, with a fourth of them left out), then with all. It also
prints the error of the predictions. Needs numpy and PyTorch.

The formula is cost_of() in src/move/policy_cost.cpp. A stored result has each way's counts, its inputs, so no count is defined
here. Constants are positive. Those of one family differ between units by a factor for each doubling, and a little more. The loss
has three terms: the regret if a way is chosen with a higher probability the faster it seems; how much the errors of a cell's
good ways differ; and the error itself.
"""
import argparse
import json
import math
import pathlib
import random
import re
import subprocess
import sys

HEADER = pathlib.Path(__file__).resolve().parent.parent / "src" / "move" / "machine.hpp"
# As in kernel_family and cost_constants. Tiles by groups of lines are a class of their own.
# The three families for work in place are one, and are not measured.
CLASSES = ("rows", "packed", "units", "tiles", "groups", "direct", "vector", "vector_apart", "ragged", "tall", "wide", "small",
           "elements", "in_place", "converted_rows", "converted_units", "converted_tiles", "loaded_tiles", "loaded_groups",
           "converted_vector", "converted_tall")
FAMILIES = dict(enumerate(("nothing", "rows", "packed", "units", "tiles") + CLASSES[5:14]))
# Conversions: see counts_of() in policy.hpp.
FAMILIES.update({101: "converted_rows", 103: "converted_units", 104: "converted_tiles", 204: "loaded_tiles",
                 106: "converted_vector", 109: "converted_tall"})
NUMBERS = {name: number for number, name in FAMILIES.items()}
WITH_ROWS = CLASSES[5:13] + ("converted_vector",)  # their rows have factors
ALONE = {"packed": ("packed",), "converted": CLASSES[14:]}  # for --only
MEMORY, INSTRUCTIONS, WAVEFRONTS, WAITS, UNITS, KNOTS = 8, 11, 3, 4, 5, 9
COUNTS = ("written", "read", "waste", "over", "over_apart", "again", "again_apart", "parts", "parts_apart", "gaps", "line",
          "span", "hot", "blocks", "resident")
FIRST, GROUPS_ROW = 3, 1000  # before the counts: family, row, unit (see counts_of() in policy.hpp)
MULTIPROCESSORS, L2_BYTES = 132, 50 << 20  # where the times must be measured
# Where a fit begins. Bytes a microsecond of DRAM and of the L2; bytes of work that leave the L2; microseconds of a launch.
MACHINE = (4527600, 10705200, 12e6, 1.21)
LOSS = (.6, .4, .2, .1, .05, .03, .02, .02, .02)
OF_MEMORY = (1, .3, .8, .15, .8, 12, 20, 2.4)
OF_INSTRUCTIONS = (4.5, .9, .09, 2.7, 6, 1.2, 2.4, 1.8, .3, .3, 5.4)
OF_WAVEFRONTS = (.84, .63, .168)
OF_WAITS = (2, .1, .1, .1)
OF_CLASS = {"hot": 2, "first": .3, "overlap": .5, "tail": .125, "drain": .2}


def measure(program, count, seed, folder):
    """Draws and times cells, at most 120 of them in a file. One in ten is small, and is timed in the L2."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    import draw_moves
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    draws = random.Random(seed)
    for first in range(0, count, 120):
        small = first // 120 % 10 == 9
        cells = folder / f"cells_{seed}_{first}.json"
        cells.write_text(json.dumps(draw_moves.draw(draws, min(120, count - first), *((1 << 20, 32 << 20) if small else
                                                                                    (16 << 20, 384 << 20)))))
        command = [program, "bench", "permute", "--cells", str(cells), "--regret", "--seconds", "0.02", "--peers", "memcpy",
                   "--format", "json", "--output", str(folder / f"times_{seed}_{first}.json")]
        subprocess.run(command + (["--small"] if small else []), check=True, stdout=subprocess.DEVNULL)
        cells.unlink()


def times(files):
    """The times in microseconds, the cell of each, the counts, and of each cell whether it is in the L2."""
    us, cell_of, counts, small = [], [], [], []
    for file in files:
        document = json.loads(pathlib.Path(file).read_text())
        for cell in document["cells"]:
            regret = cell.get("regret", {})
            in_l2 = bool(document.get("random", {}).get("small"))
            if "counts" not in regret:
                continue
            medians = dict(regret["medians_s"])
            for way, time in (("chosen", "chosen_time"), ("best", "best_time")):
                medians[regret[way]] = regret[time]["median_s"]
            for name, seconds in medians.items():
                us.append(seconds * 1e6)
                cell_of.append(len(small))
                counts.append(regret["counts"][name])
            small.append(in_l2)
    return us, cell_of, counts, small


class model:
    """The formula, for many ways at once."""

    def __init__(self, counts, in_l2):
        """in_l2: whether each way was timed with its data in the L2, if it fits."""
        import numpy
        import torch
        torch.set_default_dtype(torch.float64)
        self.torch = torch
        table = numpy.array(counts)
        family, row = table[:, 0].astype(int), table[:, 1].astype(int)
        names = numpy.array([FAMILIES[number].replace("tiles", "groups") if at == GROUPS_ROW else FAMILIES[number]
                             for number, at in zip(family, row)])
        self.of_class = torch.tensor([CLASSES.index(name) for name in names])
        self.unit = torch.tensor(numpy.where(numpy.char.endswith(names, "rows"), 0, numpy.log2(table[:, 2])))
        for i, name in enumerate(COUNTS):
            setattr(self, name, torch.tensor(table[:, FIRST + i]))
        at = FIRST + len(COUNTS)
        parts = []
        for width in (INSTRUCTIONS, WAVEFRONTS, WAITS):
            parts.append(torch.tensor(table[:, at:at + width]))
            at += width
        self.instructions, self.wavefronts, self.waits = parts
        self.loss_places = [self.place(table[:, FIRST + COUNTS.index(name)]) for name in ("line", "span")]
        rows = numpy.where(numpy.isin(names, WITH_ROWS), family * 1000 + row, -1)
        self.in_l2 = torch.tensor(numpy.array(in_l2)) & (2 * self.written <= L2_BYTES * 3 / 4)
        self.rows, self.of_row = numpy.unique(rows, return_inverse=True)
        self.of_row = torch.tensor(self.of_row)
        self.has_factor = torch.tensor((self.rows >= 0).astype(float))  # the other families have no rows

    def place(self, length):
        """The knot below a length, and the part of the way to the next one."""
        import numpy
        length = numpy.maximum(numpy.floor(length) * 0 + length, 1)
        log = numpy.floor(numpy.log2(length))
        part = numpy.where((log < 4) | (log >= 12), 0, length / 2**log - 1)
        return self.torch.tensor(numpy.clip(log - 4, 0, KNOTS - 1).astype(int)), self.torch.tensor(part)

    def start(self):
        torch, classes = self.torch, len(CLASSES)
        each = lambda values: torch.log(torch.tensor(values, dtype=torch.float64)).repeat(classes, 1)
        p = {"machine": torch.log(torch.tensor(MACHINE, dtype=torch.float64)), "line": each(LOSS), "span": each(LOSS)}
        for name, values in (("memory", OF_MEMORY), ("instruction", OF_INSTRUCTIONS), ("wavefront", OF_WAVEFRONTS),
                             ("wait", OF_WAITS)):
            p[name] = each(values)
            p[name + " doubling"] = torch.zeros(classes, len(values))
            p[name + " more"] = torch.zeros(classes, len(values), UNITS)
        for name, value in OF_CLASS.items():
            p[name] = torch.full((classes,), math.log(value))
        p["row memory"], p["row work"] = torch.zeros(len(self.rows)), torch.zeros(len(self.rows))
        return p

    def start_of_header(self):
        """The constants of machine.hpp, for a fit to a few hundred shapes more, or on another GPU."""
        torch, classes = self.torch, len(CLASSES)
        text = re.sub(r"//.*", "", generated_part(HEADER.read_text()))
        costs, *factors = re.split(r"inline constexpr row_factors k(\w+)Factors\[\] =", text)
        machine, costs = costs.split("inline constexpr cost_constants")
        numbers = lambda text: torch.tensor([float(x) for x in re.findall(r"(?<![\w.])\d[\d.e+-]*", text)])
        p = self.start()
        p["machine"] = torch.log(numbers(machine.split("=")[1]))
        of_class = torch.log(numbers(costs.split("=")[1])).reshape(classes, -1)
        for name in ("line", "span"):
            p[name], of_class = of_class[:, :KNOTS], of_class[:, KNOTS:]
        for name, width in (("memory", MEMORY), ("instruction", INSTRUCTIONS), ("wavefront", WAVEFRONTS), ("wait", WAITS)):
            values, of_class = of_class[:, :width * UNITS].reshape(classes, width, UNITS), of_class[:, width * UNITS:]
            p[name] = values.mean(2)
            p[name + " more"] = values - p[name][..., None]
        for i, name in enumerate(OF_CLASS):
            p[name] = of_class[:, i]
        for name, values in zip(factors[::2], factors[1::2]):
            name = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
            for row, (memory, work) in enumerate(numbers(values).reshape(-1, 2).log()):
                at = (self.rows == NUMBERS[name] * 1000 + row).nonzero()[0]
                p["row memory"][at], p["row work"][at] = memory, work
        return p

    def each_unit(self, p, name):
        """The constants of every class, count and unit."""
        doublings = self.torch.arange(UNITS, dtype=self.torch.float64)
        return self.torch.exp(p[name][..., None] + p[name + " doubling"][..., None] * doublings + p[name + " more"])

    def predict(self, p):
        torch, c, unit = self.torch, self.of_class, self.unit.long()
        dram, l2, share, launch = torch.exp(p["machine"])
        constants = {name: self.each_unit(p, name)[c, :, unit] for name in ("memory", "instruction", "wavefront", "wait")}

        def loss(name, place):
            knots, part = torch.exp(p[name]), place[1]
            low, high = knots[c, place[0]], knots[c, torch.clamp(place[0] + 1, max=KNOTS - 1)]
            return low + part * (high - low)

        places = MULTIPROCESSORS * self.resident
        in_flight = self.written / self.blocks * torch.minimum(self.blocks, places)
        far = lambda apart: (apart + in_flight) / (apart + in_flight + share)
        m = constants["memory"].T
        moved = self.written * (1 + loss("line", self.loss_places[0])) + self.read * (1 + loss("span", self.loss_places[1]))
        moved = moved + self.waste * m[0] + self.over * (m[1] + m[2] * far(self.over_apart))
        moved = moved + self.again * (m[3] + m[4] * far(self.again_apart))
        moved = moved + self.parts * (m[5] + m[6] * far(self.parts_apart)) + self.gaps * m[7]
        rate = torch.where(self.in_l2, l2, dram)
        factor = lambda name: torch.exp(p[name] * self.has_factor)[self.of_row]
        memory = moved / rate * factor("row memory")
        work_factor = factor("row work") / 1000 / MULTIPROCESSORS
        issue = (self.instructions * constants["instruction"]).sum(1) * work_factor
        shared = (self.wavefronts * constants["wavefront"]).sum(1) * work_factor
        alone = (self.waits * constants["wait"]).sum(1)

        def norm(*terms):
            most = torch.stack(terms).max(0).values.clamp(min=1e-9)
            return most * sum((term / most + 1e-9)**4 for term in terms)**0.25

        bound = norm(memory, norm(issue, shared), alone * self.blocks / places, self.hot * torch.exp(p["hot"])[c] / 1000)
        overlap = torch.exp(p["overlap"])[c] / self.resident * torch.minimum(memory, torch.maximum(issue, shared))
        waves = self.blocks / places
        idle = torch.exp(p["tail"])[c] * (torch.ceil(waves - 1e-6) / waves - 1)
        idle = torch.where(waves < 8, idle, torch.zeros_like(waves))
        drain = torch.exp(p["drain"])[c] * torch.clamp(1 / waves, max=1)
        return launch + torch.exp(p["first"])[c] * alone + (bound + overlap) * (1 + idle + drain)

    def fit(self, us, cell_of, weights, before, only=None, steps=600):
        """The logarithms of the constants that predict best. weights: of the cells. before: the constants to begin with. only:
        a class; then those of the others do not change."""
        torch = self.torch
        likely, near = 0.04, 0.06  # a way that seems faster by `likely` is e times as likely to be chosen
        stay = {"row memory": 8, "row work": 2}  # how much a constant keeps its first value; the others: 0.05
        stay.update({f"{name} doubling": .5 for name in ("memory", "instruction", "wavefront", "wait")})
        stay.update({f"{name} more": 2 for name in ("memory", "instruction", "wavefront", "wait")})
        p = {name: values.clone().requires_grad_(True) for name, values in before.items()}
        logs, cells, weights = torch.log(torch.tensor(us)), torch.tensor(cell_of), torch.tensor(weights)
        count = len(weights)
        least = lambda values: torch.full((count,), 1e9).scatter_reduce(0, cells, values, "amin")
        total = lambda values: torch.zeros(count).scatter_add(0, cells, values)
        slower = logs - least(logs)[cells]
        good = torch.exp(-slower / near)
        optimizer = torch.optim.Adam(list(p.values()), lr=0.03)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.03, total_steps=steps, pct_start=0.1)
        for _ in range(steps):
            optimizer.zero_grad()
            predicted = torch.log(self.predict(p))
            chance = torch.exp(-(predicted - least(predicted).detach()[cells]) / likely)
            lost = total(chance / total(chance)[cells] * torch.clamp(torch.exp(slower) - 1, max=1.5))
            error = predicted - logs
            mean = total(good * error) / total(good)
            spread = total(good * (torch.sqrt((error - mean[cells])**2 + 9e-4) - 0.03)) / total(good)
            loss = (weights * (lost + 3 * spread + 0.05 * (torch.sqrt(mean**2 + 2.5e-3) - 0.05))).sum() / weights.sum()
            kept = sum(stay.get(name, .05) * ((values - before[name])**2).sum() for name, values in p.items())
            bends = lambda values: values.diff(dim=1).diff(dim=1)
            kept = kept + 0.3 * sum((bends(p[name] - before[name])**2).sum() for name in ("line", "span"))
            (loss + 1e-4 * kept).backward()
            if only is not None:
                for name, values in p.items():
                    if name == "machine":
                        values.grad *= 0
                        continue
                    of_rows = name in ("row memory", "row work")
                    kept = torch.tensor([FAMILIES.get(row // 1000) in only for row in self.rows] if of_rows else
                                        [each in only for each in CLASSES])
                    values.grad *= kept.reshape(-1, *[1] * (values.dim() - 1))
            optimizer.step()
            schedule.step()
        return {name: values.detach() for name, values in p.items()}


def regrets(predicted, us, cell_of):
    """Of each cell."""
    chosen, best = {}, {}
    for way, cell in enumerate(cell_of):
        if cell not in chosen or predicted[way] < predicted[chosen[cell]]:
            chosen[cell] = way
        best[cell] = min(best.get(cell, math.inf), us[way])
    return [us[chosen[cell]] / best[cell] - 1 for cell in sorted(chosen)]


def show(title, predicted, us, cell_of, small):
    found = regrets(predicted, us, cell_of)
    for name, wanted in (("in DRAM", False), ("in the L2", True)):
        some = sorted(r for r, is_small in zip(found, small) if is_small == wanted)
        if some:
            print(f"{title}, {name}: {len(some)} cells, mean regret {100 * sum(some) / len(some):.2f} %, "
                  f"95 % {100 * some[int(0.95 * len(some))]:.1f} %, above 5 %: {100 * sum(r > 0.05 for r in some) / len(some):.1f} % "
                  f"of the cells, most {100 * some[-1]:.0f} %")


BEGIN, END = "// clang-format off\n", "// clang-format on"


def generated_part(header):
    return header[header.index(BEGIN) + len(BEGIN):header.index(END)]


def text_of(fitted, p):
    """The constants as C++."""
    number = lambda x: f"{float(x):.3g}"
    listed = lambda values: "{" + ", ".join(number(x) for x in values) + "}"

    def nested(values):
        lines = [""]
        for each in values:
            if len(lines[-1]) + len(listed(each)) > 120:
                lines.append("")
            lines[-1] += listed(each) + ", "
        return "{{" + "\n      ".join(lines)[:-2].replace(", \n", ",\n") + "}}"

    exp = fitted.torch.exp
    lines = ["inline constexpr machine kMachine = {" + ", ".join(f"{x:.5g}" for x in exp(p["machine"]).tolist()) + "};",
             "inline constexpr cost_constants kCosts[] = {"]
    for c, name in enumerate(CLASSES):
        lines.append(f"    {{// {name}\n     {listed(exp(p['line'][c]))},\n     {listed(exp(p['span'][c]))},")
        for kind in ("memory", "instruction", "wavefront", "wait"):
            lines.append("     " + nested(fitted.each_unit(p, kind)[c]) + ",")
        lines.append("     " + ", ".join(number(exp(p[kind][c])) for kind in OF_CLASS) + "},")
    lines.append("};")
    before = dict(re.findall(r"(inline constexpr row_factors k\w+Factors\[\] =) (.*);", generated_part(HEADER.read_text())))
    for name in WITH_ROWS:
        declaration = f"inline constexpr row_factors k{name.title().replace('_', '')}Factors[] ="
        family = NUMBERS[name] * 1000
        known = {int(row) - family: i for i, row in enumerate(fitted.rows) if 0 <= row - family < 1000}
        if known:
            factors = [f"{{{number(exp(p['row memory'][known[row]]))}, {number(exp(p['row work'][known[row]]))}}}"
                       if row in known else "{1, 1}" for row in range(max(known) + 1)]
            lines.append(f"{declaration} {{" + ", ".join(factors) + "};")
        elif declaration in before:  # not measured
            lines.append(f"{declaration} {before[declaration]};")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", nargs="*", help="results of bench permute --regret, to fit")
    parser.add_argument("--program", help="measure with this program instead")
    parser.add_argument("--count", type=int, default=1200, help="cells to draw")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--further", action="store_true", help="begin with the constants of machine.hpp, and stay near them")
    parser.add_argument("--only", choices=ALONE, help="like --further, but only these families' constants change")
    parser.add_argument("--times", default="times", help="the folder for measured times")
    given = parser.parse_args()
    if given.program:
        return measure(given.program, given.count, given.seed, given.times)
    if not given.results:
        parser.error("name results to fit, or a program to measure with")
    import numpy
    us, cell_of, counts, small = times(given.results)
    fitted = model(counts, numpy.array(small)[cell_of])
    further = given.further or given.only is not None
    before = fitted.start_of_header() if further else fitted.start()
    if further:
        show("with the constants of machine.hpp", fitted.predict(before).numpy(), us, cell_of, small)
    parts = numpy.random.default_rng(given.seed).integers(0, 4, len(small))
    unseen = numpy.zeros(len(us))
    for part in range(4):
        p = fitted.fit(us, cell_of, (parts != part).astype(float), before, ALONE.get(given.only))
        unseen = numpy.where(parts[cell_of] == part, fitted.predict(p).numpy(), unseen)
    show("cells that the fit has not seen", unseen, us, cell_of, small)
    p = fitted.fit(us, cell_of, numpy.ones(len(small)), before, ALONE.get(given.only))
    predicted = fitted.predict(p).numpy()
    show("all cells", predicted, us, cell_of, small)
    errors = numpy.abs(numpy.log(predicted / us))
    for name in CLASSES:
        own = errors[(fitted.of_class == CLASSES.index(name)).numpy()]
        if len(own):
            print(f"{name}: {len(own)} times, error of the prediction {100 * numpy.median(own):.1f} % in the median, "
                  f"{100 * numpy.quantile(own, 0.9):.1f} % at 90 %")
    # Classes that were not measured keep their constants.
    measured, stored = {int(c) for c in fitted.of_class}, fitted.start_of_header()
    for name in p.keys() - {"machine", "row memory", "row work"}:
        for c in set(range(len(CLASSES))) - measured:
            p[name][c] = stored[name][c]
    header = HEADER.read_text()
    HEADER.write_text(header.replace(generated_part(header), text_of(fitted, p) + "\n"))


if __name__ == "__main__":
    main()
