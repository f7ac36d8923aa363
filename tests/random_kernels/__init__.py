"""Random CUDA programs and what they answer: see draw.py, source.py and interpret.py."""

from random_kernels import draw, interpret, source


def program(seed, number, kernels):
    """The program of this number: the drawn tree, how its kernels were executed in Python, and its source."""
    drawn = draw.program(f"{seed}:{number}", kernels)
    executions = {k.name: interpret.Execution(drawn, k).run() for k in drawn.kernels}
    return drawn, executions, source.of(drawn, {name: e.answer() for name, e in executions.items()})
