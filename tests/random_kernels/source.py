"""Writes a random program as CUDA C++. The program prints "NAME right" or "NAME wrong" for each kernel. It exits with 0 if
all are right."""

import math

from random_kernels import elements

PRELUDE = """
#pragma nv_diag_suppress 186  // a loop whose random number of iterations is 0
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using u64 = unsigned long long;

{elements}

template <class word> __device__ word fold(u64 x) {{ return word(sizeof(word) == 4 ? x ^ x >> 32 : x); }}
template <class word, class T> __device__ word read(T element) {{ return fold<word>(number(element)); }}
template <class word> __device__ word rotate(word x, int n) {{ return x << n | x >> (8 * sizeof(word) - n); }}
__device__ inline unsigned ones(unsigned x) {{ return __popc(x); }}
__device__ inline unsigned ones(u64 x) {{ return __popcll(x); }}
__device__ inline unsigned leading_zeros(unsigned x) {{ return __clz(x); }}
__device__ inline unsigned leading_zeros(u64 x) {{ return __clzll(x); }}
__device__ inline unsigned first_set(unsigned x) {{ return __ffs(x); }}
__device__ inline unsigned first_set(u64 x) {{ return __ffsll(x); }}
__device__ inline unsigned reversed(unsigned x) {{ return __brev(x); }}
__device__ inline u64 reversed(u64 x) {{ return __brevll(x); }}

// The lane of number n % (number of lanes) in a mask.
__device__ inline int nth_lane(unsigned mask, unsigned n) {{
    for (n %= __popc(mask); n > 0; --n) mask &= mask - 1;
    return __ffs(mask) - 1;
}}

template <class T> T* filled(u64 count, u64 salt) {{
    std::vector<T> host(count);
    for (u64 i = 0; i < count; ++i) {{
        const u64 x = (i + salt) * 0x9E3779B97F4A7C15ull;
        host[i] = make<T>(x ^ x >> 29);
    }}
    T* device;
    if (cudaMalloc(&device, count * sizeof(T)) != cudaSuccess) std::exit(3);
    cudaMemcpy(device, host.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    return device;
}}

static bool dumps = false;

template <class T> void add_to(u64& checksum, const char* kernel, const char* name, T* device, u64 count) {{
    std::vector<T> host(count);
    cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
    for (u64 i = 0; i < count; ++i) {{
        checksum = (checksum ^ number(host[i])) * 0x100000001B3ull;
        if (dumps) std::printf("%s %s[%llu] %llu\\n", kernel, name, i, number(host[i]));
    }}
}}
"""

BASES = """    using word = {word};
    [[maybe_unused]] const word tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z, bx = blockIdx.x;
    const word t = {t}, b = {b}, g = b * {threads} + t;
    [[maybe_unused]] const word lane = t % 32, warp = t / 32;
    [[maybe_unused]] const unsigned whole = {whole};
    [[maybe_unused]] word acc = g * 2654435761u + 1, v0, v1;"""


class Writer:
    def __init__(self, program):
        self.program = program
        self.arrays = {}
        self.tiles = {}

    def index(self, name, e):
        tile, i = self.tiles.get(name), self.number(e)
        if tile is None or tile.layout == "flat":
            return f"{name}[{i}]"
        if tile.layout == "rows":
            return f"{name}[{i} / {tile.columns}][{i} % {tile.columns}]"
        return f"{name}[{i} + {i} / 32]"

    def number(self, e):
        kind = e[0]
        if kind == "const":
            return f"word({e[1]}u)"
        if kind == "var":
            return e[1]
        if kind == "binary":
            return f"({self.number(e[2])} {e[1]} {self.number(e[3])})"
        if kind == "shift":
            return f"rotate({self.number(e[2])}, {e[3]})" if e[1] == "rotate" else f"({self.number(e[2])} {e[1]} {e[3]})"
        if kind == "by":
            return f"({self.number(e[2])} {e[1]} word({e[3]}))"
        if kind == "unary":
            return f"word(~{self.number(e[2])})" if e[1] == "~" else f"word({e[1]}({self.number(e[2])}))"
        if kind == "select":
            return f"({self.condition(e[1])} ? {self.number(e[2])} : {self.number(e[3])})"
        if kind in ("min", "max"):
            return f"{kind}({self.number(e[1])}, {self.number(e[2])})"
        if kind == "float":
            suffix = "f" if e[1] == "float" else ""
            return f"word({e[1]}({self.number(e[2])} & 0xffff) * {e[4]}{suffix} + {e[1]}({self.number(e[3])} & 0xfff))"
        if kind == "signed":
            return f"word((int({self.number(e[2])} & 0x7fff) - 0x4000) {e[1]} {e[3]})"
        if kind == "narrow":
            return f"word(({e[1]}){self.number(e[2])})"
        if kind == "table":
            return f"word({e[1]}[{self.number(e[2])} % {len(self.program.tables[e[1]])}])"
        if kind == "mine":
            return f"mine[{self.number(e[1])}]"
        if kind == "load":
            return f"read<word>({self.index(e[1], e[2])})"
        _, name, x, y, array, constant = e
        template = "" if constant is None else f"<{constant}>"
        return f"{name}{template}({array + ', ' if array else ''}{self.number(x)}, {self.number(y)})"

    def condition(self, e):
        if e[0] == "not":
            return f"!{self.condition(e[1])}"
        if e[0] in ("and", "or"):
            return f"({self.condition(e[1])} {'&&' if e[0] == 'and' else '||'} {self.condition(e[2])})"
        return f"({self.number(e[2])} {e[1]} {self.number(e[3])})"

    def block(self, body, indent):
        return [line for statement in body for line in self.statement(statement, indent)]

    def braces(self, head, body, indent, tail="}"):
        pad = "    " * indent
        return [f"{pad}{head} {{", *self.block(body, indent + 1), f"{pad}{tail}"]

    def either(self, cond, then, rest, indent):
        if not rest:
            return self.braces(f"if ({cond})", then, indent)
        return self.braces(f"if ({cond})", then, indent, "} else {") + self.block(rest, indent + 1) + ["    " * indent + "}"]

    def statement(self, s, indent):
        pad, kind = "    " * indent, s[0]
        if kind in ("set", "let mutable"):
            return [f"{pad}{s[1]} = {self.number(s[2])};"]
        if kind == "let":
            return [f"{pad}const word {s[1]} = {self.number(s[2])};"]
        if kind == "set mine":
            return [f"{pad}mine[{self.number(s[1])}] = {self.number(s[2])};"]
        if kind == "store":
            return [f"{pad}{self.index(s[1], s[2])} = make<{self.arrays[s[1]].element}>({self.number(s[3])});"]
        if kind == "if":
            return self.either(self.condition(s[1]), s[2], s[3], indent)
        if kind == "masked if":
            _, name, outer, cond, then, rest = s
            return [f"{pad}const bool {name}_in = {self.condition(cond)};", f"{pad}const unsigned {name} = __ballot_sync({outer}, {name}_in);",
                    f"{pad}[[maybe_unused]] const unsigned {name}_else = {outer} & ~{name};"] + self.either(f"{name}_in", then, rest, indent)
        if kind == "loop":
            return self.loop(s, indent)
        if kind == "switch":
            lines = [f"{pad}switch ({self.number(s[1])}) {{"]
            for value, body, falls in s[2]:
                lines += [f"{pad}    case {value}: {{", *self.block(body, indent + 2), f"{pad}    }} {'[[fallthrough]];' if falls else 'break;'}"]
            return lines + [pad + "}"]
        if kind in ("break", "continue"):
            return [f"{pad}{kind};"]
        if kind == "return":
            return [f"{pad}return{' acc' if self.in_function else ''};"]
        if kind == "barrier":
            if s[1]:
                return [f"{pad}const word {s[2]} = __syncthreads_{s[1]}({self.condition(s[3])}){' != 0' * (s[1] != 'count')};"]
            return [f"{pad}__syncthreads();"]
        if kind == "syncwarp":
            return [f"{pad}__syncwarp({s[1]});"]
        if kind == "fill":
            tile = self.tiles[s[1]]
            return [f"{pad}for (word i = t; i < {tile.size}; i += {self.kernel.threads})",
                    f"{pad}    {self.index(s[1], ('var', 'i'))} = make<{tile.element}>({self.number(s[2])});"]
        if kind == "warp":
            return [f"{pad}const word {s[2]} = {self.warp(s)};"]
        _, op, name, index, value, old = s
        element, at = self.arrays[name].element, self.index(name, index)
        compare = f", ({element})({self.number(index)} * 3)" if op == "CAS" else ""
        result, end = (f"const word {old} = fold<word>(number(", "))") if old else ("", "")
        return [f"{pad}{result}atomic{op}(&{at}{compare}, ({element}){self.number(value)}){end};"]

    def loop(self, s, indent):
        _, form, i, trips, body, masked, outer, unroll = s
        pad, lines = "    " * indent, []
        if masked:
            lines.append(f"{pad}unsigned {masked} = {outer};")
        if unroll:
            lines.append(pad + unroll)
        if masked:
            lines += [f"{pad}for (word {i} = 0;; ++{i}) {{", f"{pad}    {masked} = __ballot_sync({masked}, {i} < {trips});", f"{pad}    if ({i} >= {trips}) break;"]
            return lines + self.block(body, indent + 1) + [pad + "}"]
        if form == "do":
            return [f"{pad}word {i} = 0;"] + lines + self.braces("do", body, indent, f"}} while (++{i} < {trips});")
        head = f"for (word {i} = 0; {i} < {trips}; ++{i})" if form == "for" else f"for (word {i} = {trips}; {i}-- > 0;)"
        return lines + self.braces(head, body, indent)

    def warp(self, s):
        _, name, _, mask, value, extra, width = s
        if name in ("ballot", "any", "all"):
            return f"__{name}_sync({mask}, {self.condition(value)}){'' if name == 'ballot' else ' != 0'}"
        value = self.number(value)
        if name == "shfl":
            return f"__shfl_sync({mask}, {value}, nth_lane({mask}, unsigned({self.number(extra)})))"
        if name == "shfl_idx":
            return f"__shfl_sync({mask}, {value}, int({self.number(extra)} & 63), {width})"
        if name.startswith("shfl"):
            return f"__{name}_sync({mask}, {value}, {extra}, {width})"
        if name == "match_any":
            return f"__match_any_sync({mask}, {value})"
        if name == "match_all":
            return f"[&] {{ int same; const unsigned found = __match_all_sync({mask}, {value}, &same); return found + (same != 0); }}()"
        return f"__{name}_sync({mask}, unsigned({value}))"

    # ---- whole functions and kernels ----

    def function(self, f):
        self.in_function = True
        template = ["int K"] * f.has_constant + ["class T"] * f.has_array + ["class word"]
        parameters = ["const T* p"] * f.has_array + ["word x", "word y"]
        return [f"template <{', '.join(template)}>", f"__device__ {'__noinline__ ' * f.noinline}word {f.name}({', '.join(parameters)}) {{",
                "    word acc = x;", *["    [[maybe_unused]] const word k = K;"] * f.has_constant, *self.block(f.body, 1), "    return acc ^ y;", "}", ""]

    def of_kernel(self, k):
        self.in_function, self.kernel = False, k
        self.tiles = {tile.name: tile for tile in k.tiles}
        self.arrays = {array.name: array for array in k.arrays} | self.tiles
        parameters = [f"{'const ' * (a.role == 'in')}{a.element}* {'__restrict__ ' * (a.salt % 3 == 0)}{a.name}" for a in k.arrays]
        template = [f"template <{'int K, ' if k.constant is not None else ''}class word_>"] if k.constant is not None else []
        word = "unsigned" if k.bits == 32 else "u64"
        linear = {(False, False): "tx", (True, False): "tx + blockDim.x * ty"}.get((k.block[1] > 1, k.block[2] > 1), "tx + blockDim.x * (ty + blockDim.y * tz)")
        whole = "~0u" if k.threads % 32 == 0 else f"t / 32 == {k.threads // 32} ? (1u << {k.threads % 32}) - 1 : ~0u"
        lines = [*template, f"__global__ void {k.name}({', '.join(parameters)}) {{"]
        lines += BASES.format(word="word_" if template else word, t=linear, threads=k.threads, whole=whole,
                              b="blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)").splitlines()
        lines += ["    [[maybe_unused]] const word k = K;"] * (k.constant is not None)
        if "local array" in k.features:
            lines.append("    word mine[4] = {acc, g, lane, 7};")
        for tile in k.tiles:
            align = "__align__(16) " if elements.accesses(tile.element)[0][1] < 4 else ""
            extent = f"[{tile.size // tile.columns}][{tile.columns + tile.padding}]" if tile.layout == "rows" else f"[{self.extent(tile)}]"
            lines.append(f"    {'extern ' * tile.dynamic}__shared__ {align}{tile.element} {tile.name}{'[]' if tile.dynamic else extent};")
        return lines + self.block(k.body, 1) + ["}", ""]

    @staticmethod
    def extent(tile):
        return tile.size + tile.size // 32 if tile.layout == "skewed" else tile.size

    def host(self, k, answer):
        word = "unsigned" if k.bits == 32 else "u64"
        called = k.name if k.constant is None else f"{k.name}<{k.constant}, {word}>"
        shared = sum(self.extent(tile) * elements.size(tile.element) for tile in k.tiles if tile.dynamic)
        shape = lambda s: f"dim3({s[0]}, {s[1]}, {s[2]})"
        lines = [f"static bool run_{k.name}() {{"]
        lines += [f"    {a.element}* {a.name} = filled<{a.element}>({a.size}, {a.salt});" for a in k.arrays]
        lines += [f"    {called}<<<{shape(k.grid)}, {shape(k.block)}{f', {shared}' if shared else ''}>>>({', '.join(a.name for a in k.arrays)});"] * k.launches
        lines += ["    const cudaError_t error = cudaDeviceSynchronize();", "    u64 checksum = 0;"]
        lines += [f"    add_to(checksum, \"{k.name}\", \"{a.name}\", {a.name}, {a.size});" for a in k.arrays if a.role != "in"]
        lines += [f"    cudaFree({a.name});" for a in k.arrays]
        return lines + [f"    const bool right = error == cudaSuccess && checksum == {answer}ull;",
                        f"    std::printf(\"{k.name} %s%s%s\\n\", right ? \"right\" : \"wrong\", error == cudaSuccess ? \"\" : \": \", error == cudaSuccess ? \"\" : cudaGetErrorName(error));",
                        "    return right;", "}", ""]

    def whole(self, answers):
        p = self.program
        names = {array.element for k in p.kernels for array in k.arrays + k.tiles}
        lines = [f"// A random program, drawn from the seed {p.seed}.", PRELUDE.format(elements=elements.source(names))]
        for name, values in p.tables.items():
            lines.append(f"__constant__ unsigned {name}[{len(values)}] = {{{', '.join(f'{value}u' for value in values)}}};")
        for function in p.functions:
            lines += self.function(function)
        for k in p.kernels:
            lines += self.of_kernel(k) + self.host(k, answers[k.name])
        lines += ["int main(int count, char** words) {", "    dumps = count > 1 && std::strcmp(words[1], \"dump\") == 0;", "    bool right = true;"]
        lines += [f"    right &= run_{k.name}();" for k in p.kernels]
        return "\n".join(lines + ["    return right ? 0 : 1;", "}", ""])


def of(program, answers):
    return Writer(program).whole(answers)
