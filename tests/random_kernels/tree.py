"""The parts of a random program. Statements and expressions are tuples whose first item is the kind."""

import dataclasses
import math


@dataclasses.dataclass(eq=False)
class Array:
    """An array in global or shared memory."""
    name: str
    element: str
    size: int
    salt: int = 0
    role: str = "in"         # in, out, own (atomics on own slots), bins (atomics that commute), counted, sums (of old values), tile
    op: str = ""             # the atomic operation of bins
    place: tuple = ()        # expression of the thread's own index, less than the number of threads
    capacity: int = 0        # slots per thread
    interleaved: bool = False
    used: int = 0
    layout: str = "flat"     # of a tile: flat, rows (columns and padding below) or skewed
    columns: int = 1
    padding: int = 0
    dynamic: bool = False


@dataclasses.dataclass
class Function:
    name: str
    noinline: bool
    has_array: bool
    has_constant: bool
    body: list = dataclasses.field(default_factory=list)
    loads: set = dataclasses.field(default_factory=set)


@dataclasses.dataclass
class Kernel:
    name: str
    bits: int
    grid: tuple
    block: tuple
    constant: int | None = None   # the template argument
    launches: int = 1
    arrays: list = dataclasses.field(default_factory=list)
    tiles: list = dataclasses.field(default_factory=list)
    body: list = dataclasses.field(default_factory=list)
    features: set = dataclasses.field(default_factory=set)
    loads: set = dataclasses.field(default_factory=set)
    weights: dict = dataclasses.field(default_factory=dict)

    threads = property(lambda self: math.prod(self.block))
    total = property(lambda self: math.prod(self.block) * math.prod(self.grid))


@dataclasses.dataclass
class Program:
    seed: str
    kernels: list = dataclasses.field(default_factory=list)
    functions: list = dataclasses.field(default_factory=list)
    tables: dict = dataclasses.field(default_factory=dict)  # in __constant__ memory: the values by name
