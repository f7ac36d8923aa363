"""Random CUDA programs and their results: see draw.py, source.py and interpret.py."""

from random_kernels import draw, interpret, source


def program(seed, number, kernels):
    """Returns the program of this number as a tree, the executions of its kernels in Python, and its source."""
    drawn = draw.program(f"{seed}:{number}", kernels)
    executions = {k.name: interpret.Execution(drawn, k).run() for k in drawn.kernels}
    return drawn, executions, source.of(drawn, {name: e.answer() for name, e in executions.items()})
