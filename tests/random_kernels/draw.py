"""Generates a random CUDA program from a seed. Kernels are trees. This file does not depend on the emulator.

Kernels have no race, no undefined behaviour and no access out of bounds. Each thread writes only to its own slots, or
uses atomics that commute. A barrier separates phases that use a tile of shared memory in different modes. Numbers are
unsigned, and floats hold small integers. Every loaded value becomes part of `acc`, which is stored. So no compiler can
remove a load.

Expressions and statements are tuples. The first item is the kind. source.py writes them as C++, and interpret.py executes
them.
"""

import dataclasses
import math
import random

from random_kernels import elements
from random_kernels.tree import Array, Function, Kernel, Program


@dataclasses.dataclass
class Scope:
    """The conditions at the position of a new statement."""
    names: list
    loops: list = dataclasses.field(default_factory=list)  # (variable, maximum of iterations)
    mask: str | None = None        # the variable whose value is exactly the active lanes
    modes: dict = dataclasses.field(default_factory=dict)  # how this phase uses each tile
    phase_loops: list = dataclasses.field(default_factory=list)  # the loops around the phase
    depth: int = 0
    may_continue: bool = False
    may_break: bool = False
    may_return: bool = False
    function: Function | None = None

    def inside(self, deeper=1, **changes):
        return dataclasses.replace(self, names=list(self.names), loops=list(self.loops), depth=self.depth + deeper, **changes)


MASKED_RETURN = "return; afterwards the mask is that of the remaining lanes"


def const(n):
    return ("const", n)


def var(name):
    return ("var", name)


def binary(op, a, b):
    return ("binary", op, a, b)


def modulo(e, n):
    return ("by", "%", e, n)


class Drawer:
    def __init__(self, seed, kernels):
        self.random = random.Random(seed)
        self.program = Program(seed)
        self.count = 0
        self.kernel = None
        for i in range(self.random.randint(1, 2)):
            self.program.tables[f"table{i}"] = [self.random.getrandbits(32) for _ in range(self.random.choice([5, 16, 33]))]
        for i in range(3):
            self.program.functions.append(self.function(f"f{i}"))
        for i in range(kernels):
            self.program.kernels.append(self.draw_kernel(f"k{i}"))

    def fresh(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def chance(self, p):
        return self.random.random() < p

    # ---- expressions: numbers of the kernel's width, without memory accesses ----

    def leaf(self, scope):
        if self.chance(0.2):
            return const(self.random.choice([1, 2, 3, 5, 7, 31, 32, 255, self.random.randrange(1, 1 << 16), self.random.getrandbits(32)]))
        return var(self.random.choice(scope.names))

    def expression(self, scope, depth=2):
        pick = self.random.randrange(12) if depth > 0 else 0
        a = self.leaf(scope) if pick < 2 else self.expression(scope, depth - 1)
        if pick < 2:
            return a
        if pick < 5:
            return binary(self.random.choice(["+", "-", "*", "&", "|", "^"]), a, self.expression(scope, depth - 1))
        if pick == 5:
            return ("shift", self.random.choice(["<<", ">>", "rotate"]), a, self.random.randint(1, 31))
        if pick == 6:
            return ("by", self.random.choice("/%"), a, self.random.choice([2, 3, 7, 10, 64, 1000]))
        if pick == 7:
            return ("unary", self.random.choice(["~", "ones", "leading_zeros", "reversed", "first_set"]), a)
        if pick == 8:
            return ("select", self.condition(scope, depth - 1), a, self.expression(scope, depth - 1))
        if pick == 9:
            return (self.random.choice(["min", "max"]), a, self.expression(scope, depth - 1))
        if pick == 10:
            if self.chance(0.5):
                return ("float", self.random.choice(["float", "double"]), a, self.expression(scope, depth - 1), self.random.choice([0.25, 0.5, 2.0, 4.0]))
            if self.chance(0.5):
                return ("signed", self.random.choice(["/", "%", ">>"]), a, self.random.choice([1, 2, 3, 5]))
            return ("narrow", self.random.choice(["unsigned char", "signed char", "unsigned short", "short", "int"]), a)
        return ("table", self.random.choice(list(self.program.tables)), a)

    def condition(self, scope, depth=1):
        pick = self.random.randrange(8)
        if pick == 0 and depth > 0:
            return (self.random.choice(["and", "or"]), self.condition(scope, depth - 1), self.condition(scope, depth - 1))
        if pick == 1 and depth > 0:
            return ("not", self.condition(scope, depth - 1))
        if pick < 4:
            return ("compare", "==", modulo(self.expression(scope, 1), n := self.random.choice([2, 3, 4])), const(self.random.randrange(n)))
        if pick < 6 and "lane" in scope.names:
            return ("compare", self.random.choice(["<", ">="]), var("lane"), const(self.random.randint(1, 31)))
        if pick == 6:
            return ("compare", self.random.choice(["<", ">", "!="]), self.expression(scope, 1), self.expression(scope, 1))
        return ("compare", "!=", binary("&", var("acc"), const(1 << self.random.randrange(8))), const(0))

    def index(self, scope, size):
        """Any index of an array. It depends on every surrounding loop, so no compiler can move a load out of a loop."""
        pick, r = self.random.randrange(7), self.random
        if scope.function is not None or pick == 0:
            e = binary("+", self.leaf(scope), var("acc")) if scope.function is None else binary("+", var("y"), binary("*", var("acc"), const(r.choice([1, 3, 4]))))
        elif pick == 1:
            e = binary("*", var("g"), const(r.choice([1, 1, 2, 3, 4, 8, 17, 32])))
        elif pick == 2:
            e = binary("^", var("t"), const(r.randrange(1, 64)))
        elif pick == 3:
            e = binary("-", const(size + self.kernel.total), var("g"))
        elif pick == 4:
            e = binary("+", binary("*", var("lane"), const(r.choice([1, 2, 4, 5, 32]))), binary("*", var("warp"), const(r.choice([1, 7, 33, 64]))))
        elif pick == 5:
            e = binary("+", binary("*", var("tx"), const(r.randint(1, 40))), binary("+", binary("*", var("ty"), const(r.randint(1, 40))), binary("+", var("tz"), var("b"))))
        else:
            e = binary("+", var("g"), ("by", "/", self.leaf(scope), 4))
        for loop, _ in scope.loops:
            e = binary("+", e, binary("*", var(loop), const(r.choice([1, 3, 32, 101]))))
        return modulo(binary("+", e, const(r.randrange(size))), size)

    def accumulate(self, e):
        """Multiplies by a factor that occurs nowhere else. Otherwise acc ^ acc could be 0, and g++ would remove loads."""
        factor = self.random.choice([0x01000193, 0x85EBCA6B, 0xC2B2AE35, 0x27D4EB2F])
        return ("set", "acc", binary(self.random.choice("+^"), binary("*", var("acc"), const(factor)), e))

    # ---- arrays ----

    def slot(self, scope, array):
        """The index of a slot that only this thread and only this statement uses. None: no slot is left."""
        needed = math.prod(most for _, most in scope.loops)
        if scope.function is not None or array.used + needed > array.capacity:
            return None
        e = const(0)
        for loop, most in scope.loops:
            e = binary("+", binary("*", e, const(most)), var(loop))
        e = binary("+", e, const(array.used)) if scope.loops else const(array.used)
        array.used += needed
        if array.interleaved:
            return binary("+", binary("*", array.place, const(array.capacity)), e)
        return binary("+", binary("*", e, const(self.kernel.total)), array.place)

    def shuffled(self, name, n):
        """A permutation of 0 to n - 1."""
        factor = self.random.choice([f for f in (1, 1, 2, 3, 5, 7, 11, 32, 33, n - 1) if f > 0 and math.gcd(f, n) == 1])
        return modulo(binary("+", binary("*", var(name), const(factor)), const(self.random.choice([0, 0, 1, 5]))), n)

    def global_array(self, role, element):
        k, r = self.kernel, self.random
        array = Array(self.fresh(role), element, r.choice([33, 64, 257, 1000, 2048]), r.randrange(1 << 30), role)
        if role in ("out", "own"):
            array.capacity = r.randint(4, 12)
            array.interleaved, array.place, array.size = self.chance(0.3), self.shuffled("g", k.total), array.capacity * k.total
        if role in ("bins", "counted", "sums"):
            array.size = r.choice([1, 7, 32, 100])
            array.op = r.choice(["Add", "Min", "Max"] + ["And", "Or", "Xor"] * (element != "int"))
            if element == "float":
                array.op = "Add"
        k.arrays.append(array)
        return array

    def arrays_of(self, role):
        return [array for array in self.kernel.arrays if array.role == role]

    def tile(self):
        k, r = self.kernel, self.random
        array = Array(self.fresh("tile"), r.choice(elements.ALL + elements.OF_ATOMICS * 2), k.threads + r.choice([0, 0, 1, 32, k.threads]), role="tile")
        array.layout = r.choice(["flat", "rows", "skewed"])
        if array.layout == "rows":
            array.columns, array.padding = r.choice([8, 16, 32, 33]), r.choice([0, 1, 4])
            array.size = -(-array.size // array.columns) * array.columns
        array.place = self.shuffled("t", array.size)
        array.dynamic = not any(tile.dynamic for tile in k.tiles) and array.layout != "rows" and self.chance(0.3)
        k.tiles.append(array)
        return array

    # ---- statements: each method returns a list of statements, or None if it is not possible here ----

    def new_load(self, scope, name, size):
        """A load that this kernel or function does not have yet: a compiler could merge two equal ones."""
        loads = (scope.function or self.kernel).loads
        while (load := ("load", name, self.index(scope, size))) in loads:
            pass
        loads.add(load)
        return load

    def load(self, scope):
        if scope.function is not None:
            if not scope.function.has_array:
                return None
            return [self.accumulate(self.new_load(scope, "p", 33))]  # every array has at least 33 elements
        array = self.random.choice(self.arrays_of("in"))
        return [self.accumulate(self.new_load(scope, array.name, array.size))]

    def conditional_load(self, scope):
        loads = [statement[0][2][3] for statement in (self.load(scope), self.load(scope)) if statement]
        if len(loads) < 2:
            return None
        if self.chance(0.5):
            return [self.accumulate(("select", self.condition(scope), loads[0], loads[1]))]
        both = (self.random.choice(["and", "or"]), self.condition(scope, 0), ("compare", "==", modulo(loads[0], 3), const(0)))
        return [("if", both, [self.accumulate(loads[1])], [self.accumulate(const(99))])]

    def store(self, scope):
        array = self.random.choice(self.arrays_of("out")) if scope.function is None else None
        index = array and self.slot(scope, array)
        if index is None:
            return None
        value = binary("+", var("acc"), self.expression(scope, 1))
        if self.chance(0.3):
            value = binary("^", value, ("load", array.name, index))
        return [("store", array.name, index, value)]

    def arithmetic(self, scope):
        if self.chance(0.3) and scope.function is None:
            self.kernel.features.add("local array")
            return [("set mine", modulo(self.expression(scope), 4), self.expression(scope)), self.accumulate(("mine", modulo(self.leaf(scope), 4)))]
        names = [name for name in scope.names if name.startswith("v")]
        return [("set", self.random.choice(names), self.expression(scope, 3))] if names else [self.accumulate(self.expression(scope, 3))]

    def call(self, scope):
        if scope.function is not None:
            return None
        function = self.random.choice(self.program.functions)
        self.kernel.features.add("noinline" if function.noinline else "call")
        array = self.random.choice(self.arrays_of("in")).name if function.has_array else None
        return [self.accumulate(("call", function.name, binary("+", var("acc"), self.expression(scope, 1)), self.expression(scope, 1), array,
                                 self.random.randint(1, 9) if function.has_constant else None))]

    def atomic(self, scope):
        if scope.function is not None:
            return None
        self.kernel.features.add("atomic")
        pick = self.random.randrange(3)
        if pick == 0:
            array = self.random.choice(self.arrays_of("bins"))
            value = binary("&", self.expression(scope), const(15)) if array.element == "float" else self.expression(scope)
            return [("atomic", array.op, array.name, self.index(scope, array.size), value, None)]
        if pick == 1:
            array = self.arrays_of("own")[0]
            index = self.slot(scope, array)
            if index is None:
                return None
            op = self.random.choice(["Add", "Min", "Max", "Exch", "CAS"] + ["And", "Or", "Xor"] * (array.element != "int"))
            return [("atomic", op, array.name, index, self.expression(scope), old := self.fresh("old")), self.accumulate(var(old))]
        # Every thread adds the same number, so the sum of the old values does not depend on the order.
        counted, sums = self.arrays_of("counted")[0], self.arrays_of("sums")[0]
        index, old = self.fresh("at"), self.fresh("old")
        return [("let", index, self.index(scope, counted.size)), ("atomic", "Add", counted.name, var(index), const(3), old),
                ("atomic", "Add", sums.name, modulo(var(index), sums.size), var(old), None)]

    def shared(self, scope):
        if not scope.modes:
            return None
        tile = self.random.choice(list(scope.modes))
        mode, t = scope.modes[tile], tile.name
        if mode == "read":
            return [self.accumulate(self.new_load(scope, t, tile.size))]
        if mode == "atomic":
            self.kernel.features.add("shared atomic")
            return [("atomic", tile.op, t, self.index(scope, tile.size), self.expression(scope), None)]
        if mode == "own":
            if scope.loops != scope.phase_loops:  # only the last iteration's value would remain
                return None
            del scope.modes[tile]
            return [("store", t, tile.place, binary("+", var("acc"), ("load", t, tile.place) if self.chance(0.5) else self.expression(scope)))]
        if scope.mask != "whole":
            return None
        self.kernel.features.add("syncwarp")
        other = binary("+", binary("*", var("warp"), const(32)), modulo(binary("+", var("lane"), self.leaf(scope)), 32))
        other = other if self.kernel.threads % 32 == 0 else ("min", other, const(self.kernel.threads - 1))
        if self.kernel.threads % 32 != 0:  # the last thread may be in another warp
            other = ("max", binary("*", var("warp"), const(32)), other)
        return [("store", t, var("t"), binary("+", var("acc"), self.expression(scope, 1))), ("syncwarp", "whole"), self.accumulate(("load", t, other)), ("syncwarp", "whole")]

    def warp(self, scope):
        if scope.mask is None or scope.function is not None:
            return None
        k, r, result = self.kernel, self.random, self.fresh("w")
        k.features.add("warp function" if scope.mask == "whole" else "mask of some lanes")
        functions = ["shfl", "ballot", "any", "all", "match_any", "match_all", "reduce_add", "reduce_min", "reduce_max", "reduce_and", "reduce_or", "reduce_xor"]
        if scope.mask == "whole" and k.threads % 32 == 0:
            functions += ["shfl_up", "shfl_down", "shfl_xor", "shfl_idx"]
        name, width = r.choice(functions), r.choice([4, 8, 16, 32])
        value = self.condition(scope) if name in ("ballot", "any", "all") else self.expression(scope)
        value = modulo(value, r.choice([1, 2, 5])) if name.startswith("match") else value
        extra = {"shfl": self.leaf(scope), "shfl_up": r.randrange(width), "shfl_down": r.randrange(width), "shfl_xor": r.randrange(width), "shfl_idx": self.leaf(scope)}
        return [("warp", name, result, scope.mask, value, extra.get(name), width), self.accumulate(var(result))]

    def branch(self, scope):
        if scope.depth > 2:
            return None
        kernel_only = scope.function is None
        if kernel_only and self.chance(0.15):  # the whole warp takes one branch: its mask does not change
            cond = ("compare", "==", modulo(binary("+", var("warp"), var("b")), 2), const(self.random.randrange(2)))
            then, exits = self.block(scope.inside(), 2)
            return [("if", cond, then, [])], exits
        masked = kernel_only and scope.mask is not None and self.chance(0.5)
        if masked and scope.mask != "whole":
            self.kernel.features.add("mask of some lanes")
        name = self.fresh("m") if masked else None
        cond = self.condition(scope)
        then, exits = self.block(scope.inside(mask=name), self.random.randint(1, 3))
        rest, more = self.block(scope.inside(mask=name and name + "_else"), self.random.randint(1, 3)) if self.chance(0.5) else ([], set())
        return [("masked if", name, scope.mask, cond, then, rest) if masked else ("if", cond, then, rest)], exits | more

    def leave(self, scope):
        """break, continue or return, under a condition."""
        exit_kinds = ["continue"] * scope.may_continue + ["break"] * scope.may_break + ["return"] * scope.may_return
        if not exit_kinds:
            return None
        exit_kind, body = self.random.choice(exit_kinds), []
        if exit_kind == "return" and scope.function is None:
            array = self.arrays_of("out")[0]
            index = self.slot(scope, array)
            if index is None:
                return None
            body = [("store", array.name, index, var("acc"))]
        elif self.chance(0.5):
            body = self.load(scope) or []
        if scope.function is None:
            self.kernel.features.add(exit_kind)
        if exit_kind == "return" and scope.mask and self.chance(0.7):
            name, old = self.fresh("m"), scope.mask
            scope.mask = name + "_else"  # the remaining lanes
            if old != "whole":
                self.kernel.features.add("mask of some lanes")
            return [("masked if", name, old, self.condition(scope), body + [(exit_kind,)], [])], {MASKED_RETURN}
        return [("if", self.condition(scope), body + [(exit_kind,)], [])], {exit_kind}

    def loop(self, scope):
        if scope.depth > 2 or len(scope.loops) > 1:
            return None
        i, trips, r = self.fresh("i"), self.fresh("n"), self.random
        form, most = r.choice(["for", "for", "down", "do"]), r.randint(2, 4)
        same = self.chance(0.4)
        count = const(most) if same else modulo(self.expression(scope), most + 1)
        inner = scope.inside(may_break=True, may_continue=True, mask=scope.mask if same else None)
        inner.names.append(i)
        inner.loops.append((i, most))
        masked = None
        if scope.mask and not same and form == "for" and self.chance(0.5):
            masked = inner.mask = self.fresh("m")
            self.kernel.features.add("mask of some lanes")
        if inner.mask:  # the next iteration has the same mask
            inner.may_break = inner.may_return = False
        body, exits = self.block(inner, r.randint(1, 3))
        if scope.function is None:
            self.kernel.features.add("loop" if same else "loop of lanes")
        unroll = r.choice(["", "", "#pragma unroll", "#pragma unroll 1", "#pragma unroll 2"])
        return [("let", trips, count), ("loop", form, i, trips, body, masked, scope.mask, unroll)], exits - {"break", "continue"}

    def switch(self, scope):
        if scope.depth > 2:
            return None
        cases, exits = [], set()
        for value in range(n := self.random.randint(2, 5)):
            body, more = self.block(scope.inside(mask=None, may_break=False), self.random.randint(1, 2))  # a break would leave the switch
            falls = self.chance(0.2)
            if scope.function is None:
                self.kernel.features.add("fallthrough" if falls else "switch")
            cases.append((value, body, falls and value + 1 < n))
            exits |= more
        return [("switch", modulo(self.expression(scope), n + self.random.randrange(2)), cases)], exits

    KINDS = {"load": 4, "conditional_load": 1, "store": 3, "arithmetic": 1, "call": 1, "atomic": 1, "shared": 3, "warp": 2, "branch": 2, "leave": 1, "loop": 2, "switch": 1}

    def block(self, scope, count):
        """Returns `count` statements, and the kinds of exits by which lanes may leave the block early."""
        body, exits = [], set()
        weights = self.kernel.weights if scope.function is None else {"load": 3, "arithmetic": 3, "branch": 2, "loop": 1, "switch": 1, "leave": 1}
        while count > 0:
            kind = self.random.choices(list(weights), list(weights.values()))[0]
            found = getattr(self, kind)(scope)
            if found is None:
                found = self.load(scope) or self.arithmetic(scope)
            if isinstance(found, tuple):
                found, more = found
                exits |= more
                if more & {"break", "continue", "return"}:
                    scope.mask = None
            body += found
            count -= 1
        return body, {"return" if kind == MASKED_RETURN else kind for kind in exits}

    # ---- whole functions and kernels ----

    def function(self, name):
        made = Function(name, self.chance(0.5), self.chance(0.6), self.chance(0.4))
        scope = Scope(["x", "y", "acc"] + ["k"] * made.has_constant, may_return=True, function=made)
        made.body, _ = self.block(scope, self.random.randint(2, 4))
        return made

    def phase(self, scope, count, last=False):
        k = self.kernel
        scope = scope.inside(deeper=0, may_return=last, modes={}, phase_loops=list(scope.loops))
        for tile in k.tiles:
            modes = ["read", "read", "own"] + ["warp"] + ["atomic"] * (tile.element in elements.OF_ATOMICS)
            scope.modes[tile] = "read" if last else self.random.choice(modes)
            if scope.modes[tile] == "atomic":
                tile.op = self.random.choice(["Add", "Min", "Max"])
        # Reads every tile in the last phase: a compiler could remove stores to a tile that no thread reads.
        body = [self.accumulate(self.new_load(scope, tile.name, tile.size)) for tile in k.tiles if last]
        body += self.block(scope, count)[0]
        if last:
            return body
        if self.chance(0.2):
            result = self.fresh("s")
            return body + [("barrier", self.random.choice(["count", "and", "or"]), result, self.condition(scope)), self.accumulate(var(result))]
        return body + [("barrier", "", None, None)]

    def fill(self, tile, scope):
        inner = scope.inside()
        inner.names.append("i")
        value = binary("*", self.expression(inner, 1), const(3))
        if self.chance(0.7):
            array = self.random.choice(self.arrays_of("in"))
            value = binary("+", ("load", array.name, modulo(binary("+", binary("*", var("i"), const(self.random.choice([1, 2, 5]))), var("b")), array.size)), value)
        return [("fill", tile.name, value)]

    def draw_kernel(self, name):
        r = self.random
        block = r.choice([(32,), (64,), (128,), (256,), (96,), (100,), (33,), (7,), (250,), (16, 16), (32, 4), (8, 3), (33, 2), (4, 4, 4), (5, 3, 7), (1, 64), (32, 1, 3)])
        grid = r.choice([(1,), (2,), (3,), (5,), (2, 2), (3, 1, 2), (1, 3)])
        pad = lambda shape: tuple(shape) + (1,) * (3 - len(shape))
        k = self.kernel = Kernel(name, r.choice([32, 32, 64]), pad(grid), pad(block), r.choice([None, None, 3, 8]), r.choice([1, 1, 1, 2]))
        k.weights = {kind: weight * r.choice([0, 1, 1, 3]) for kind, weight in self.KINDS.items()}
        k.weights["load"] += 1
        for role, element in ([("in", r.choice(elements.ALL)) for _ in range(r.randint(1, 3))] + [("out", r.choice(elements.ALL)) for _ in range(r.randint(1, 2))]
                              + [("own", r.choice(elements.OF_ATOMICS)), ("bins", r.choice(elements.OF_ATOMICS + ["float"])), ("counted", "unsigned"), ("sums", "unsigned long long")]):
            self.global_array(role, element)
        for _ in range(r.choice([0, 1, 1, 2]) if k.weights["shared"] else 0):
            self.tile()
        names = ["t", "g", "lane", "warp", "b", "tx", "ty", "tz", "bx", "acc"] + ["k"] * (k.constant is not None)
        scope = Scope(names, mask="whole")
        k.body = [("let mutable", v, self.expression(scope, 1)) for v in ("v0", "v1")]
        scope.names += ["v0", "v1"]
        k.body += self.load(scope)
        for tile in k.tiles:
            k.body += self.fill(tile, scope)
        if k.tiles:
            k.body.append(("barrier", "", None, None))
            for _ in range(r.randint(1, 3)):
                self.phases(k, scope)
        k.body += self.phase(scope.inside(), r.randint(2, 5), last=True)
        last = self.global_array("out", r.choice(["unsigned long long", "uint4"]))  # receives acc at the end
        last.capacity, last.size = 1, k.total
        k.body.append(("store", last.name, self.slot(scope.inside(), last), var("acc")))
        for array in list(k.arrays):
            if f"'{array.name}'" not in repr(k.body):
                k.arrays.remove(array)
        return k

    def phases(self, k, scope):
        """Adds one phase, or two phases in a loop, or one that some blocks skip."""
        pick = self.random.randrange(4)
        inner = scope.inside(deeper=0)
        if pick == 0:
            i, trips = self.fresh("i"), self.fresh("n")
            inner.names.append(i)
            inner.loops.append((i, 2))
            body = self.phase(inner, 1) + self.phase(inner, 2)
            k.features.add("barriers in a loop")
            k.body += [("let", trips, const(2)), ("loop", "for", i, trips, body, None, "whole", "")]
        elif pick == 1:
            k.features.add("barriers under a condition")
            k.body.append(("if", ("compare", "==", modulo(var("b"), 2), const(0)), self.phase(inner, 2), []))
        else:
            k.body += self.phase(inner, self.random.randint(1, 3))


def program(seed, kernels):
    return Drawer(seed, kernels).program
