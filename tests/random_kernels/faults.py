"""Each function plants a fault in a copy of a kernel. It returns None if the kernel has no place for the fault."""

import copy
import random

from random_kernels import interpret


def places(tree, fits, path=()):
    """Yields the positions of all parts of a tree of tuples and lists for which fits(part) is true."""
    if isinstance(tree, tuple) and fits(tree):
        yield path
    if isinstance(tree, (tuple, list)):
        for i, part in enumerate(tree):
            yield from places(part, fits, path + (i,))


def part_at(tree, path):
    for i in path:
        tree = tree[i]
    return tree


def replaced(tree, path, new):
    if not path:
        return new
    parts = list(tree)
    parts[path[0]] = replaced(parts[path[0]], path[1:], new)
    return type(tree)(parts)


def drawn_places(program, kernel, fits):
    found = list(places(kernel.body, fits))
    random.Random(program.seed + kernel.name).shuffle(found)
    return found


def changed(kernel, path, new):
    made = copy.copy(kernel)
    made.body = replaced(kernel.body, path, new)
    return made


def without_barrier(program, kernel):
    """Removes a barrier so that a race follows which the emulator reports. Python's execution detects that race."""
    for path in drawn_places(program, kernel, lambda part: part[:1] in (("barrier",), ("syncwarp",)) and not (part[0] == "barrier" and part[1])):
        made = changed(kernel, path, ("set", "v0", ("var", "v0")))
        if interpret.Execution(program, made).run().reported_races:
            return made
    return None


def out_of_bounds(program, kernel):
    """Moves an access of global memory one element past the end of its array. Some thread executes that access."""
    arrays = {array.name: array for array in kernel.arrays}
    for path in drawn_places(program, kernel, lambda part: part[:1] in (("load",), ("store",)) and part[1] in arrays):
        old = part_at(kernel.body, path)
        made = changed(kernel, path, (*old[:2], ("const", arrays[old[1]].size), *old[3:]))
        try:
            interpret.Execution(program, made).run()
        except interpret.Broken:
            return made
    return None
