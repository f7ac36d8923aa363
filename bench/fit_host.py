#!/usr/bin/env python3
"""Fits the predicted costs of the host's methods to measured times, and writes the constants of src/host/machine.hpp.

    build/cpu/bench/host_ways 1 300 2 8 192 > times/two_cores.json     # seed, seconds, threads, MiB: on each machine
    bench/fit_host.py times/*.json                                     # anywhere

The cost of a method is a sum: a constant for each of the features of a transpose (src/host/cost.hpp, which host_ways prints). It
predicts the logarithm of the time, less the mean of all methods. It prints the regret, which is how much longer the chosen method
takes than the best one: first with transposes that the fit has not seen (four times, with a fourth of them left out), then with
all. Needs numpy.

The fit is one of least squares. Each file weighs as much as any other, and times near a transpose's best weigh most. After the
first fit, methods that were chosen wrongly, and those that should have been chosen, weigh more.
"""
import json
import pathlib
import re
import sys

import numpy

HEADER = pathlib.Path(__file__).resolve().parent.parent / "src" / "host" / "machine.hpp"
METHODS = ("direct", "lines", "image", "strips", "tiles")  # as in cost.hpp
RIDGE, NEAR, ROUNDS = 1.0, 0.6, 6


def read(files):
    """For each transpose: its file, and of each way the method, the microseconds and the features."""
    return [(file, [(int(numbers[0]), us, numbers[1:]) for _, us, numbers in json.loads(line)["ways"]])
            for file in files for line in pathlib.Path(file).read_text().splitlines()]


class table:
    def __init__(self, transposes):
        self.cell = numpy.array([c for c, (_, ways) in enumerate(transposes) for _ in ways])
        flat = [way for _, ways in transposes for way in ways]
        self.method = numpy.array([way[0] for way in flat])
        self.us = numpy.array([way[1] for way in flat])
        self.features = numpy.array([way[2] for way in flat])
        self.cells = len(transposes)
        files = [file for file, _ in transposes]
        self.share = numpy.array([self.cells / len(set(files)) / files.count(file) for file in files])
        log = numpy.log2(self.us)
        self.best = self.least(log)
        self.wanted = log - numpy.array([log[self.cell == c].mean() for c in range(self.cells)])[self.cell]

    def least(self, values):
        """Of each transpose."""
        found = numpy.full(self.cells, numpy.inf)
        numpy.minimum.at(found, self.cell, values)
        return found

    def chosen(self, cost):
        """Which way of each transpose has the least cost."""
        order = numpy.lexsort((cost, self.cell))
        return order[numpy.unique(self.cell[order], return_index=True)[1]]

    def regrets(self, cost):
        return self.us[self.chosen(cost)] / 2**self.best - 1

    def fit(self, used):
        """The constants of each method, from the transposes used. All are solved at once, because only differences count."""
        methods, width = len(METHODS), self.features.shape[1]
        weights = 0.05 + numpy.exp(-(numpy.log2(self.us) - self.best[self.cell]) / NEAR)
        weights = weights * (used * self.share)[self.cell]
        found = numpy.zeros((methods, width))
        for _ in range(ROUNDS):
            for m in range(methods):
                rows = self.method == m
                x, w = self.features[rows], weights[rows][:, None]
                found[m] = numpy.linalg.solve(x.T @ (w * x) + RIDGE * numpy.eye(width), x.T @ (w[:, 0] * self.wanted[rows]))
            cost = self.cost(found)
            chosen = self.chosen(cost)
            wrong = self.us[chosen] / 2**self.best - 1 > 0.05
            best = self.chosen(self.us)
            weights[chosen[wrong]] *= 1.3
            weights[best[wrong]] *= 1.3
        return found

    def cost(self, constants):
        return (self.features * constants[self.method]).sum(1)


def show(title, files, regrets):
    for file in sorted(set(files)):
        some = numpy.sort(regrets[numpy.array(files) == file])
        print(f"{title}, {pathlib.Path(file).stem}: {len(some)} transposes, mean regret {100 * some.mean():.2f} %, above 5 %: "
              f"{100 * (some > 0.05).mean():.1f} %, above 20 %: {100 * (some > 0.2).mean():.1f} %, most {100 * some[-1]:.0f} %")


def main():
    transposes = read(sys.argv[1:])
    if not transposes:
        raise SystemExit("there are no times: name results of host_ways")
    files, all_ways = [file for file, _ in transposes], table(transposes)
    parts, unseen = numpy.random.default_rng(1).integers(0, 4, all_ways.cells), numpy.zeros(len(all_ways.us))
    for part in range(4):
        constants = all_ways.fit(parts != part)
        unseen = numpy.where(parts[all_ways.cell] == part, all_ways.cost(constants), unseen)
    show("unseen", files, all_ways.regrets(unseen))
    constants = all_ways.fit(numpy.ones(all_ways.cells, bool))
    show("all", files, all_ways.regrets(all_ways.cost(constants)))
    lines = ["inline constexpr float kCosts[kCosted][features::kCount] = {"]
    for name, row in zip(METHODS, constants):
        lines.append(f"    {{// {name}")
        text = ""
        for number in [f"{x:.3g}" for x in row]:
            if len(text) + len(number) > 110:
                lines.append("     " + text.rstrip())
                text = ""
            text += number + ", "
        lines.append("     " + text.rstrip(", ") + "},")
    between = re.compile(r"(?<=// clang-format off\n).*?(?=\n// clang-format on)", re.S)
    HEADER.write_text(between.sub("\n".join(lines + ["};"]), HEADER.read_text()))


if __name__ == "__main__":
    main()
