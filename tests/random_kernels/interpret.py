"""Executes a random program in Python: its results, and the accesses of its source. This file shares no code with the
emulator.

All active threads of a block execute a statement together. Threads that diverge at a branch, loop or switch reconverge
at its end. So each access of a warp is one instruction. Its addresses determine the requests, sectors and wavefronts.
"""

import collections

from random_kernels import elements

REQUESTS, SECTORS = ("l1tex__t_requests_pipe_lsu_mem_global_op_%s.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_%s.sum")
SHARED, WAVEFRONTS = ("smsp__sass_inst_executed_op_shared_%s.sum", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_%s.sum")


class Broken(Exception):
    """The program breaks a rule: an index out of bounds, a read before the write, a wrong mask, a divergent barrier."""


def bits_of(lanes):
    return sum(1 << lane for lane in lanes)


class Execution:
    """All launches of one kernel. `memory` holds the number in each element of the arrays."""

    def __init__(self, program, kernel):
        self.program, self.k = program, kernel
        self.functions = {f.name: f for f in program.functions}
        self.arrays = {a.name: a for a in kernel.arrays + kernel.tiles}
        self.memory = {a.name: [elements.filled(a.element, a.salt, i) for i in range(a.size)] for a in kernel.arrays}
        self.counts = collections.Counter()
        self.approximate = set()  # metrics for which this file has no exact rule
        self.races = 0
        # Races that the emulator is sure to report: those without atomics, and between lanes of a warp only without an
        # exchange of lanes since the first access.
        self.reported_races = 0
        self.mask = (1 << kernel.bits) - 1

    def run(self):
        gx, gy, gz = self.k.grid
        for _ in range(self.k.launches):
            for b in range(gx * gy * gz):
                self.run_block(b, b % gx)
        return self

    def answer(self):
        return elements.checksum(value for a in self.k.arrays if a.role != "in" for value in self.memory[a.name])

    def run_block(self, b, bx):
        k, threads = self.k, range(self.k.threads)
        x, y, _ = k.block
        t = list(threads)
        self.env = {"t": t, "b": [b] * len(t), "bx": [bx] * len(t), "g": [b * k.threads + i for i in t], "lane": [i % 32 for i in t], "warp": [i // 32 for i in t],
                    "tx": [i % x for i in t], "ty": [i // x % y for i in t], "tz": [i // (x * y) for i in t], "k": [k.constant] * len(t),
                    "whole": [bits_of(range(min(32, k.threads - i // 32 * 32))) for i in t]}
        self.env["acc"] = [g * 2654435761 + 1 & self.mask for g in self.env["g"]]
        self.mine = [[self.env["acc"][i], self.env["g"][i], i % 32, 7] for i in t]
        for tile in k.tiles:
            self.memory[tile.name] = [None] * tile.size
        self.touched = collections.defaultdict(list)  # since the last barrier: the accesses to each element of a tile
        self.synced = collections.Counter()           # the number of __syncwarp() that each warp has executed
        self.exchanges = 0
        self.last_exchange = [0] * len(t)             # the last warp barrier or exchange of lanes of each thread
        self.gone, self.frames = [], []
        self.block(k.body, t)

    # ---- accesses ----

    def warps(self, active):
        found = collections.defaultdict(list)
        for i in active:
            found[i // 32].append(i)
        return found.values()

    def place(self, array, index):
        if array.layout == "rows":
            return index // array.columns * (array.columns + array.padding) + index % array.columns
        return index + index // 32 if array.layout == "skewed" else index

    def note(self, name, index, active, op):
        """Counts an access and looks for races."""
        array = self.arrays[name]
        width = elements.size(array.element)
        shared = array.role == "tile"
        for i in active:
            if index[i] >= array.size:
                raise Broken(f"{name}[{index[i]}] is out of bounds")
            if shared:
                self.note_touch(name, index[i], i, op)
        for lanes in self.warps(active):
            addresses = [self.place(array, index[i]) * width for i in lanes]
            for offset, part in elements.accesses(array.element):
                at = [address + offset for address in addresses]
                if shared:
                    self.note_shared(at, part, op)
                    continue
                self.counts[REQUESTS % op] += 1
                # Lanes at one address take turns. A sector counts as often as its most frequent address.
                if op in ("red", "atom"):
                    turns = collections.defaultdict(int)
                    for address, count in collections.Counter(at).items():
                        turns[address // 32] = max(turns[address // 32], count)
                    self.counts[SECTORS % op] += sum(turns.values())
                else:
                    self.counts[SECTORS % op] += len({address // 32 for address in at})

    def note_shared(self, at, part, op):
        op = "atom" if op == "red" else op
        self.counts[SHARED % op] += 1
        if part > 4 or op == "atom":
            self.approximate.add(WAVEFRONTS % op)
        banks = collections.Counter(word % 32 for word in {address // 4 for address in at})
        self.counts[WAVEFRONTS % op] += max(banks.values())
        if op == "atom" and part > 4:  # a loop of compare-and-swap
            self.approximate |= {rule % op for rule in (SHARED, WAVEFRONTS) for op in ("ld", "st", "atom")}

    def note_touch(self, name, index, thread, op):
        kind = {"ld": "read", "st": "write"}.get(op, "atomic")
        for other, did, synced, exchange in self.touched[name, index]:
            ordered = other == thread or other // 32 == thread // 32 and synced < self.synced[thread // 32]
            if not ordered and (kind != did or kind == "write"):
                self.races += 1
                same_warp = other // 32 == thread // 32
                exchanged = exchange != self.last_exchange[thread]
                self.reported_races += "atomic" not in (kind, did) and not (same_warp and exchanged)
        self.touched[name, index].append((thread, kind, self.synced[thread // 32], self.last_exchange[thread]))

    # ---- expressions: a list with the value of each active thread ----

    def each(self, active, function):
        found = [0] * self.k.threads
        for i in active:
            found[i] = function(i)
        return found

    def number(self, e, active):
        kind, mask, bits = e[0], self.mask, self.k.bits
        if kind == "const":
            return [e[1]] * self.k.threads
        if kind == "var":
            return list(self.env[e[1]])
        if kind == "select":
            cond = self.condition(e[1], active)
            yes, no = self.number(e[2], [i for i in active if cond[i]]), self.number(e[3], [i for i in active if not cond[i]])
            return self.each(active, lambda i: yes[i] if cond[i] else no[i])
        if kind == "load":
            return self.load(e[1], self.number(e[2], active), active)
        if kind == "call":
            return self.call(e, active)
        if kind == "mine":
            a = self.number(e[1], active)
            return self.each(active, lambda i: self.mine[i][a[i]])
        if kind == "table":
            a, table = self.number(e[2], active), self.program.tables[e[1]]
            return self.each(active, lambda i: table[a[i] % len(table)])
        if kind in ("binary", "float"):
            a, b = self.number(e[2], active), self.number(e[3], active)
            if kind == "float":
                return self.each(active, lambda i: int((a[i] & 0xFFFF) * e[4] + (b[i] & 0xFFF)))
            return self.each(active, {"+": lambda i: a[i] + b[i] & mask, "-": lambda i: a[i] - b[i] & mask, "*": lambda i: a[i] * b[i] & mask,
                                      "&": lambda i: a[i] & b[i], "|": lambda i: a[i] | b[i], "^": lambda i: a[i] ^ b[i]}[e[1]])
        if kind in ("min", "max"):
            a, b = self.number(e[1], active), self.number(e[2], active)
            return self.each(active, lambda i: min(a[i], b[i]) if kind == "min" else max(a[i], b[i]))
        if kind == "narrow":
            a = self.number(e[2], active)
            return self.each(active, lambda i: elements.kept(e[1], a[i]) & mask)
        a, n = self.number(e[2], active), e[3] if len(e) > 3 else None
        functions = {
            ("shift", "<<"): lambda x: x << n & mask, ("shift", ">>"): lambda x: x >> n, ("shift", "rotate"): lambda x: (x << n | x >> (bits - n)) & mask,
            ("by", "/"): lambda x: x // n, ("by", "%"): lambda x: x % n,
            ("unary", "~"): lambda x: ~x & mask, ("unary", "ones"): lambda x: bin(x).count("1"), ("unary", "leading_zeros"): lambda x: bits - x.bit_length(),
            ("unary", "reversed"): lambda x: int(f"{x:0{bits}b}"[::-1], 2), ("unary", "first_set"): lambda x: (x & -x).bit_length(),
            ("signed", "/"): lambda x: self.divided((x & 0x7FFF) - 0x4000, n) & mask, ("signed", ">>"): lambda x: ((x & 0x7FFF) - 0x4000 >> n) & mask,
            ("signed", "%"): lambda x: ((x & 0x7FFF) - 0x4000 - n * self.divided((x & 0x7FFF) - 0x4000, n)) & mask,
        }
        function = functions[kind, e[1]]
        return self.each(active, lambda i: function(a[i]))

    @staticmethod
    def divided(a, n):
        return a // n if a >= 0 else -(-a // n)

    def condition(self, e, active):
        if e[0] == "not":
            a = self.condition(e[1], active)
            return self.each(active, lambda i: not a[i])
        if e[0] in ("and", "or"):
            a = self.condition(e[1], active)
            b = self.condition(e[2], [i for i in active if a[i] == (e[0] == "and")])
            return self.each(active, lambda i: (a[i] and b[i]) if e[0] == "and" else (a[i] or b[i]))
        a, b = self.number(e[2], active), self.number(e[3], active)
        return self.each(active, {"==": lambda i: a[i] == b[i], "!=": lambda i: a[i] != b[i], "<": lambda i: a[i] < b[i],
                                  ">": lambda i: a[i] > b[i], ">=": lambda i: a[i] >= b[i]}[e[1]])

    def fold(self, value):
        return value if self.k.bits == 64 else (value ^ value >> 32) & self.mask

    def load(self, name, index, active):
        name = self.env["p"] if name == "p" else name
        self.note(name, index, active, "ld")
        memory = self.memory[name]
        if any(memory[index[i]] is None for i in active):
            raise Broken(f"{name} is read before it is written")
        return self.each(active, lambda i: self.fold(memory[index[i]]))

    def call(self, e, active):
        _, name, x, y, array, constant = e
        x, y, outer, gone, frames = self.number(x, active), self.number(y, active), self.env, self.gone, self.frames
        self.env = {"x": x, "y": y, "acc": list(x), "p": array, "k": [constant] * self.k.threads}
        self.gone, self.frames = [], []
        rest = self.block(self.functions[name].body, active)
        found = self.env["acc"]
        found = self.each(active, lambda i: found[i] ^ y[i] if i in rest else found[i])
        self.env, self.gone, self.frames = outer, gone, frames
        return found

    # ---- statements: each returns the threads that continue after it ----

    def block(self, body, active):
        for statement in body:
            if not active:
                break
            active = self.statement(statement, active)
        return active

    def assign(self, name, values, active):
        old = self.env.setdefault(name, [0] * self.k.threads)
        for i in active:
            old[i] = values[i]

    def statement(self, s, active):
        kind = s[0]
        if kind in ("set", "let", "let mutable"):
            self.assign(s[1], self.number(s[2], active), active)
        elif kind == "set mine":
            at, value = self.number(s[1], active), self.number(s[2], active)
            for i in active:
                self.mine[i][at[i]] = value[i]
        elif kind == "store":
            index, value = self.number(s[2], active), self.number(s[3], active)
            self.write(s[1], index, value, active)
        elif kind == "fill":
            self.fill(s, active)
        elif kind == "if":
            return self.either(self.condition(s[1], active), s[2], s[3], active)
        elif kind == "masked if":
            _, name, outer, cond, then, rest = s
            cond = self.condition(cond, active)
            self.masked_exchange(outer, active)
            for lanes in self.warps(active):
                mask = bits_of(i % 32 for i in lanes if cond[i])
                self.assign(name, [mask] * self.k.threads, lanes)
                self.assign(name + "_else", [self.env[outer][lanes[0]] & ~mask] * self.k.threads, lanes)
            return self.either(cond, then, rest, active)
        elif kind == "loop":
            return self.loop(s, active)
        elif kind == "switch":
            return self.switch(s, active)
        elif kind in ("break", "continue"):
            self.frames[-1][kind] += active
            return []
        elif kind == "return":
            return []
        elif kind == "barrier":
            self.barrier(s, active)
        elif kind == "syncwarp":
            self.masked_exchange(s[1], active)
            for lanes in self.warps(active):
                self.synced[lanes[0] // 32] += 1
        elif kind == "warp":
            self.warp(s, active)
        else:
            self.atomic(s, active)
        return active

    def write(self, name, index, value, active):
        self.note(name, index, active, "st")
        for i in active:
            self.memory[name][index[i]] = elements.kept(self.arrays[name].element, value[i])

    def fill(self, s, active):
        size, i = self.arrays[s[1]].size, list(self.env["t"])
        while active := [t for t in active if i[t] < size]:
            self.env["i"] = i
            value = self.number(s[2], active)
            self.write(s[1], i, value, active)
            i = [at + self.k.threads for at in i]

    def either(self, cond, then, rest, active):
        yes, no = [i for i in active if cond[i]], [i for i in active if not cond[i]]
        return sorted(self.block(then, yes) + self.block(rest, no))

    def loop(self, s, active):
        _, form, i, trips, body, masked, outer, _ = s
        n, done = self.env[trips], []
        self.frames.append({"break": [], "continue": []})
        frame = self.frames[-1]
        self.assign(i, n if form == "down" else [0] * len(n), active)
        if masked:
            self.require(outer, active)
        at, first = self.env[i], True
        while active:
            if masked:  # the lanes that leave the loop take part in the ballot too
                self.exchange(active)
            goes = lambda t: at[t] > 0 if form == "down" else at[t] < n[t] or first and form == "do"
            done += [t for t in active if not goes(t)]
            active = [t for t in active if goes(t)]
            if form == "down":
                self.assign(i, [x - 1 for x in at], active)
            for lanes in self.warps(active) if masked else ():
                self.assign(masked, [bits_of(t % 32 for t in lanes)] * len(n), lanes)
            active = sorted(self.block(body, active) + frame["continue"])
            frame["continue"], first = [], False
            if form != "down":
                self.assign(i, [x + 1 for x in at], active)
        self.frames.pop()
        return sorted(done + frame["break"])

    def switch(self, s, active):
        value, falling, done = self.number(s[1], active), [], []
        for case, body, falls in s[2]:
            here = self.block(body, sorted(falling + [i for i in active if value[i] == case]))
            falling = here if falls else []
            done += [] if falls else here
        return sorted(done + [i for i in active if value[i] >= len(s[2])])

    def barrier(self, s, active):
        if len(active) != self.k.threads:
            raise Broken("not all threads reach a barrier")
        if s[1]:
            cond = self.condition(s[3], active)
            found = {"count": sum(cond), "and": int(all(cond)), "or": int(any(cond))}[s[1]]
            self.assign(s[2], [found] * self.k.threads, active)
        self.touched.clear()

    def require(self, mask, active):
        for lanes in self.warps(active):
            if any(self.env[mask][i] != bits_of(i % 32 for i in lanes) for i in lanes):
                raise Broken(f"the mask {mask} differs from the active lanes")

    def exchange(self, active):
        for lanes in self.warps(active):
            self.exchanges += 1
            for i in lanes:
                self.last_exchange[i] = self.exchanges

    def masked_exchange(self, mask, active):
        self.require(mask, active)
        self.exchange(active)

    def warp(self, s, active):
        _, name, result, mask, value, extra, width = s
        self.masked_exchange(mask, active)
        values = (self.condition if name in ("ballot", "any", "all") else self.number)(value, active)
        source = self.number(extra, active) if isinstance(extra, tuple) else None
        found = [0] * self.k.threads
        for lanes in self.warps(active):
            first = lanes[0] // 32 * 32
            low = [values[i] & 0xFFFFFFFF for i in lanes]
            for i in lanes:
                lane, base = i % 32, i % 32 // width * width
                if name == "shfl":
                    found[i] = values[lanes[(source[i] & 0xFFFFFFFF) % len(lanes)]]
                elif name == "shfl_idx":
                    found[i] = values[first + base + source[i] % width]
                elif name == "shfl_up":
                    found[i] = values[i - extra] if lane - extra >= base else values[i]
                elif name == "shfl_down":
                    found[i] = values[i + extra] if lane + extra < base + width else values[i]
                elif name == "shfl_xor":
                    found[i] = values[i ^ extra]
                elif name in ("any", "all"):
                    found[i] = int((any if name == "any" else all)(values[j] for j in lanes))
                elif name == "ballot":
                    found[i] = bits_of(j % 32 for j in lanes if values[j])
                elif name == "match_any":
                    found[i] = bits_of(j % 32 for j in lanes if values[j] == values[i])
                elif name == "match_all":
                    found[i] = (bits_of(j % 32 for j in lanes) + 1) & 0xFFFFFFFF if len({values[j] for j in lanes}) == 1 else 0
                else:
                    found[i] = {"add": sum(low) & 0xFFFFFFFF, "min": min(low), "max": max(low)}.get(name[7:])
                    if found[i] is None:
                        found[i] = low[0]
                        for other in low[1:]:
                            found[i] = {"reduce_and": found[i] & other, "reduce_or": found[i] | other, "reduce_xor": found[i] ^ other}[name]
        self.assign(result, found, active)

    def atomic(self, s, active):
        _, op, name, index, value, old = s
        element, memory = self.arrays[name].element, self.memory[name]
        at, value = self.number(index, active), self.number(value, active)
        self.note(name, at, active, "atom" if old else "red")
        signed = (lambda x: elements.as_signed(x, 64)) if element == "int" else lambda x: x
        olds = [0] * self.k.threads
        for i in active:
            before, other = memory[at[i]], elements.kept(element, value[i] * (4 if element == "float" else 1))
            olds[i] = self.fold(before)
            after = {"Add": before + other, "Min": min(before, other, key=signed), "Max": max(before, other, key=signed), "And": before & other,
                     "Or": before | other, "Xor": before ^ other, "Exch": other, "CAS": other if before == elements.kept(element, at[i] * 3) else before}[op]
            # Sums of floats keep all their bits: a float holds each of them exactly.
            memory[at[i]] = after if element == "float" else elements.kept(element, after)
        if old:
            self.assign(old, olds, active)
