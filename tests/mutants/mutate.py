"""Writes altered copies ("mutants") of the ladder's kernels: each has one mistake that a kernel's author could make.

    mutate.py OUTPUT_DIRECTORY RUNG.cu...

CMake runs this when it configures. OUTPUT_DIRECTORY then holds a file for each rung, with all of its mutants, and
mutants.inc, a table for mutants_test.cpp. A mutant's kernels are called as the rung's are, with +RULE and a number behind;
those of a copy without a mistake, with +unaltered. Rules are applied to the text of the __global__ functions, wherever
they match; a rule that matches nowhere is an error; a file with few mutants is named.
"""

import re
import sys
from pathlib import Path

FEWEST_A_FILE = 3

BOUND = r"(?P<left>[\w.]+(?: \+ [\w.]+)*) (?P<op><=?) (?P<right>(?:source|destination)\.(?:rows|cols))"
TILE = r"tile(?P<a>\[[^\[\]]+\])(?P<b>\[[^\[\]]+\])"
ADDRESS = r"\.data(?P<open>\[| \+ )(?P<row>[^;{}=]+?) \* (?P<side>%s)\.ld \+ (?P<col>[^;{}\]]+)(?P<close>[\];])"
SWAPPED_ADDRESS = r".data\g<open>(\g<col>) * \g<side>.ld + \g<row>\g<close>"

# name: (what is looked for, what takes its place: as in re.sub)
RULES = {
    "barrier": (r"__syncthreads\(\);", ";"),
    "wide": (BOUND, r"\g<left> \g<op> \g<right> + 1"),
    "narrow": (BOUND, r"\g<left> + 1 \g<op> \g<right>"),
    "tile_read": (TILE + r"(?! = )", r"tile\g<b>\g<a>"),
    "tile_write": (TILE + r"(?= = )", r"tile\g<b>\g<a>"),
    "source": (ADDRESS % "source", SWAPPED_ADDRESS),
    "destination": (ADDRESS % "destination", SWAPPED_ADDRESS),
    "step": (r" \+ i(?: \* \w+)?\b", ""),
    "block": (r"\bat\.(?:row|col)\b", lambda match: {"at.row": "at.col", "at.col": "at.row"}[match[0]]),
    "stride": (r"(source|destination)\.ld\b", r"\1.cols"),
    # Of products.
    "beyond": (r"(?<!; step) < work\.(?P<of>[mnk])\b", r" <= work.\g<of>"),
    "leading": (r"\* work\.(?P<ld>ld[abc])\b", r"* (work.\g<ld> + 1)"),
    "first": (r"\bstep \+ ", ""),
    # Of permutations.
    "side": (r"(?<=digit \* )(?P<of>\w+\.)(?P<side>source|destination)",
             lambda match: match["of"] + {"source": "destination", "destination": "source"}[match["side"]]),
    "modulo": (r"\brest % ", "rest / "),
    "digit": (r"\brest - next \* [\w.\[\]]+", "rest"),
    "there": (r"(?:\b\w+|\bfind_word\([^;{}]*?\))\.there\b", "true"),
    "order": (r"\bplan\.(?P<side>read|write)\b(?=, plan\.rank)", lambda match: {"read": "plan.write", "write": "plan.read"}[match["side"]]),
    "place": (r"\bword\.place\b", "i"),
    "part": (r"\bi \+ k\b", "i"),
}

# Mutants that are as right as the rung itself. The test demands that exactly these survive.
# (pattern for the rung's id, rule, the text that is altered or "" for any, reason)
EQUIVALENT = [
    (r"(copy/shared|transpose/unindexed)@.*", "barrier", "",
     "each thread reads back the elements that it wrote itself: the barrier protects nothing"),
    (r"(?!transpose/(?:swizzled|kept|packed)@).*@(\d+)x\1", "step", "",
     "a block as tall as its tile takes it in one step: i is always 0"),
    *[(rf"transpose/{rung}@.*", "narrow", bound, "what is last is moved by the scalar path: slower, not wrong")
      for rung, bound in [("vectorized", "col + kVectorWidth <= source.cols"),
                          ("vectorized", "col + kVectorWidth <= destination.cols"),
                          ("swizzled", "row0 + kSwizzledTile <= source.rows"),
                          ("swizzled", "col0 + kSwizzledTile <= source.cols"),
                          ("swizzled", "col + kFour <= destination.cols"),
                          ("kept", "row0 + kKeptTile <= source.rows"),
                          ("kept", "col0 + kKeptTile <= source.cols"),
                          ("kept", "col + kKeptWidth <= destination.cols"),
                          ("packed", "row0 + kPackedTile <= source.rows"),
                          ("packed", "col0 + kPackedTile <= source.cols"),
                          ("packed", "col + kPack <= destination.cols"),
                          ("packed", "col0 + column + 4 <= destination.rows")]],
]


def code_only(text):
    """The text with comments, texts, characters and declarations of shared arrays blanked, so that positions stay."""
    blanked = r'''//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'|__shared__[^;]*;'''
    return re.sub(blanked, lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.S)


def kernels_in(code):
    """(begin, end) of each __global__ function's body."""
    for start in re.finditer(r"__global__", code):
        begin = code.index("{", start.end())
        depth = 0
        for end in range(begin, len(code)):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            if depth == 0:
                yield begin, end + 1
                break


def mutants_of(text):
    """(rule, position, what stands there, what takes its place), in the order of the text."""
    code = code_only(text)
    found = []
    for begin, end in kernels_in(code):
        for rule, (pattern, replacement) in RULES.items():
            for match in re.finditer(pattern, code[begin:end]):
                new = replacement(match) if callable(replacement) else match.expand(replacement)
                found.append((rule, begin + match.start(), match[0], new))
    order = list(RULES)
    return sorted(found, key=lambda mutant: (mutant[1], order.index(mutant[0])))


def ids_of(text):
    """The ids that a rung's file registers: one a variant."""
    name = re.search(r'\.id = "([^"]+)"', text)[1]
    variants = re.findall(r'(?:>|multiplying)\("([^"]*)"', text[text.index("CORNERTURN_RUNG("):])
    return [f"{name}@{variant}" if variant else name for variant in variants]


def quoted(text):
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def main():
    output, rungs = Path(sys.argv[1]), sorted(Path(name).resolve() for name in sys.argv[2:])
    files, rows, survivors, used, excused = {}, [], [], set(), set()
    for rung in rungs:
        text = rung.read_text()
        if ".feature = " in text:
            print(f"mutate.py: {rung.name} is not altered: the emulator cannot run it")
            continue
        mutants = mutants_of(text)
        if len(mutants) < FEWEST_A_FILE:
            # Said, not refused: a new rung may be written in ways that no rule here knows yet.
            print(f"mutate.py: {rung.name} gives {len(mutants)} mutants, fewer than {FEWEST_A_FILE}: add a rule for it")
        # A rung's headers are compiled once, in one namespace. Each mutant has its own namespace inside it. So has a copy
        # without a mistake, which must pass: else mutants would be caught for how they are compiled.
        of_rung = "mutant_of_" + re.sub(r"\W", "_", f"{rung.parent.parent.name}_{rung.stem}")
        parts = [f"#undef CORNERTURN_BUILD\n#define CORNERTURN_BUILD {of_rung}\n"
                 "#define CORNERTURN_ONLY_ELEMENT4\n" + "".join(re.findall(r"^#include .*\n", text, re.M))]

        def add(name, content):
            parts.append("#undef CORNERTURN_KERNELS\n"
                         f"#define CORNERTURN_KERNELS cornerturn::inline CORNERTURN_BUILD::dialect::{name}\n"
                         "#undef CORNERTURN_ID_SUFFIX\n"
                         f'#define CORNERTURN_ID_SUFFIX "+{name}"\n'
                         f"#line 1 {quoted(rung.name)}\n" + content)

        add("unaltered", text)
        for number, (rule, position, old, new) in enumerate(mutants, 1):
            used.add(rule)
            suffix = f"+{rule}{number}"
            line = text.count("\n", 0, position) + 1
            add(suffix[1:], text[:position] + new + text[position + len(old):])
            for entry in EQUIVALENT:
                for id in ids_of(text):
                    if re.fullmatch(entry[0], id) and entry[1] == rule and entry[2] in ("", old):
                        survivors.append(f"{{{quoted(id + suffix)}, {quoted(entry[3])}}},\n")
                        excused.add(entry)
            rows.append(f"{{{quoted(rung.name)}, {line}, {quoted(suffix)}, {quoted(old)}, {quoted(new)}}},\n")
        files[f"{of_rung}.cu"] = "".join(parts)
    unused = set(RULES) - used
    if unused:
        sys.exit(f"mutate.py: no rung has anything that these rules match: {', '.join(sorted(unused))}")
    for entry in set(EQUIVALENT) - excused:
        sys.exit(f"mutate.py: no mutant is like this any more: {entry}")

    files["mutants.inc"] = (
        "constexpr mutant kMutants[] = {\n" + "".join(rows) + "};\n"
        "constexpr equivalent kEquivalent[] = {\n" + "".join(survivors) + "};\n")
    output.mkdir(parents=True, exist_ok=True)
    for old_file in output.iterdir():
        if old_file.name not in files:
            old_file.unlink()
    for name, content in files.items():
        path = output / name
        if not path.exists() or path.read_text() != content:  # unchanged mutants are not compiled again
            path.write_text(content)


if __name__ == "__main__":
    main()
