"""Reduces a kernel for which the emulator and Python disagree, as long as they disagree.

    cd tests && CORNERTURN=../build/cpu/bin/cornerturn python3 -m random_kernels.reduce SEED NUMBER KERNELS KERNEL [METRIC] [--more] > small.cu

METRIC is a metric of Nsight Compute, or `answer` for the results. The default is any metric. With --more, only a higher
count of the emulator is a disagreement.
"""

import argparse
import os
import pathlib
import sys
import tempfile

from random_kernels import draw, emulate, interpret, source

CORNERTURN = os.path.abspath(os.environ["CORNERTURN"])


def disagree(program, folder, metric, more):
    try:
        execution = interpret.Execution(program, program.kernels[0]).run()
    except (interpret.Broken, KeyError, TypeError):  # the declaration of a name was removed, but not its use
        return False
    if execution.races:
        return False
    text = source.of(program, {program.kernels[0].name: execution.answer()})
    done, found = emulate.run(CORNERTURN, folder, "small", text, "--timeout", "20")
    if not found:
        return False
    if metric == "answer":
        return "wrong" in done.stdout or done.stderr != ""
    theirs = found[program.kernels[0].name]["metrics"]
    metrics = [metric] if metric else [m for m in theirs if "conflicts" not in m and m not in execution.approximate]
    return any(theirs[m] > execution.counts[m] if more else theirs[m] != execution.counts[m] for m in metrics)


def bodies(statement):
    """Returns the lists of statements inside a statement."""
    return [list(part) for part in statement if isinstance(part, list) and part and isinstance(part[0], tuple) and isinstance(part[0][0], str)] + [
        list(case[1]) for part in statement if isinstance(part, list) for case in part if isinstance(case, tuple) and isinstance(case[0], int)]


def smaller(body):
    """Yields every body without one of its statements, or with a statement replaced by the statements inside it."""
    for i, statement in enumerate(body):
        yield body[:i] + body[i + 1:]
        for inner in bodies(statement):
            yield body[:i] + inner + body[i + 1:]
    for i, statement in enumerate(body):
        for part, value in enumerate(statement):
            if not isinstance(value, list) or not value:
                continue
            if isinstance(value[0][0], int):
                for c, (number, inner, falls) in enumerate(value):
                    for less in smaller(inner):
                        yield body[:i] + [statement[:part] + (value[:c] + [(number, less, falls)] + value[c + 1:],) + statement[part + 1:]] + body[i + 1:]
            else:
                for less in smaller(value):
                    yield body[:i] + [statement[:part] + (less,) + statement[part + 1:]] + body[i + 1:]


def reduced(program, folder, metric, more):
    kernel, tried, at = program.kernels[0], 0, 0
    last = kernel.body[-1:]  # stores acc: without it no value would be used
    while True:
        for position, body in enumerate(smaller(kernel.body[:-1])):
            if position < at:
                continue
            old, kernel.body, tried = kernel.body, body + last, tried + 1
            if disagree(program, folder, metric, more):
                at = position
                break
            kernel.body = old
        else:
            if at == 0:
                return
            at = 0
        print(f"tried {tried} changes; the kernel has {len(repr(kernel.body))} characters", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed")
    parser.add_argument("number", type=int)
    parser.add_argument("kernels", type=int)
    parser.add_argument("kernel")
    parser.add_argument("metric", nargs="?")
    parser.add_argument("--more", action="store_true")
    given = parser.parse_args()
    program = draw.program(f"{given.seed}:{given.number}", given.kernels)
    program.kernels = [k for k in program.kernels if k.name == given.kernel]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if not disagree(program, folder, given.metric, given.more):
            sys.exit(f"the emulator and Python agree on {given.kernel}: there is nothing to reduce")
        reduced(program, folder, given.metric, given.more)
        k = program.kernels[0]
        for array in [a for a in k.arrays if f"'{a.name}'" not in repr(k.body)]:
            k.arrays.remove(array)
        program.functions = [f for f in program.functions if f"'{f.name}'" in repr(k.body)]
        print(source.of(program, {k.name: interpret.Execution(program, k).run().answer()}))


if __name__ == "__main__":
    main()
