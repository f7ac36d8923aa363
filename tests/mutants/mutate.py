"""Writes mutants of the ladder's kernels: copies with one mistake that a kernel's author could make.

    mutate.py OUTPUT_DIRECTORY RUNG.cu...

CMake runs this when it configures. OUTPUT_DIRECTORY then contains a file for each rung, with all of its mutants, and
mutants.inc, a table for mutants_test.cpp. The id of a mutant's kernel is that of the rung's kernel, +RULE and a number; that
of a copy without a mistake ends in +unaltered. Each rule is applied to the text of the __global__ functions, wherever it
matches. A rule that matches nowhere is an error. A file with few mutants is printed.
"""

import re
import sys
from pathlib import Path

FEWEST_A_FILE = 3

BOUND = r"(?P<left>[\w.]+(?: \+ [\w.]+)*) (?P<op><=?) (?P<right>(?:source|destination)\.(?:rows|cols))"
TILE = r"tile(?P<a>\[[^\[\]]+\])(?P<b>\[[^\[\]]+\])"
ADDRESS = r"\.data(?P<open>\[| \+ )(?P<row>[^;{}=]+?) \* (?P<side>%s)\.ld \+ (?P<col>[^;{}\]]+)(?P<close>[\];])"
SWAPPED_ADDRESS = r".data\g<open>(\g<col>) * \g<side>.ld + \g<row>\g<close>"

# name: (pattern, replacement), as for re.sub.
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
    # For products.
    "beyond": (r"(?<!; step) < work\.(?P<of>[mnk])\b", r" <= work.\g<of>"),
    "leading": (r"\* work\.(?P<ld>ld[abc])\b", r"* (work.\g<ld> + 1)"),
    "first": (r"\bstep \+ ", ""),
    # For permutations.
    "side": (r"(?<=digit \* )(?P<of>\w+\.)(?P<side>source|destination)",
             lambda match: match["of"] + {"source": "destination", "destination": "source"}[match["side"]]),
    "modulo": (r"\brest % ", "rest / "),
    "digit": (r"\brest - next \* [\w.\[\]]+", "rest"),
    "there": (r"(?:\b\w+|\bfind_word\([^;{}]*?\))\.there\b", "true"),
    "order": (r"\blayout\.(?P<side>read|write)\b(?=, layout\.rank)", lambda match: {"read": "layout.write", "write": "layout.read"}[match["side"]]),
    "place": (r"\bword\.place\b", "i"),
    "part": (r"\bi \+ k\b", "i"),
    # For conversions.
    "factor": (r"\bfactor = digit\b| \+ (?:one|word)\.factor\b| \+ lane \* along\.factor\b| \+ across\.factor \* i\b",
               lambda match: "factor = 0" if match[0].startswith("factor") else ""),
}

# Mutants that are as right as the rung. The test demands that exactly these survive.
# (pattern for the rung's id, rule, altered text or "" for any, reason)
EQUIVALENT = [
    (r"(copy/shared|transpose/unindexed)@.*", "barrier", "",
     "each thread reads only elements that it wrote: the barrier protects nothing"),
    (r"(?!transpose/(?:swizzled|kept|packed)@).*@(\d+)x\1", "step", "",
     "a block as tall as its tile has one step: i is always 0"),
    *[(rf"transpose/{rung}@.*", "narrow", bound, "the scalar code moves the last elements: slower, but right")
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
    """The text with comments, strings, characters and declarations of shared arrays blanked. Positions stay the same."""
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
    """(rule, position, old text, new text), in the order of the text."""
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
    """The ids that a rung's file registers: one for each variant."""
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
        if "__global__" not in text:
            continue  # the library's kernels are in src/move
        mutants = mutants_of(text)
        if len(mutants) < FEWEST_A_FILE:
            # No error: a new rung may have code that no rule matches yet.
            print(f"mutate.py: {rung.name} has {len(mutants)} mutants, fewer than {FEWEST_A_FILE}: add a rule for it")
        # A rung's headers are compiled once, in one namespace. Each mutant has its own namespace inside it. A copy without a
        # mistake is compiled in the same manner and must pass. So mutants are caught for their mistakes only.
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
        sys.exit(f"mutate.py: these rules match no rung: {', '.join(sorted(unused))}")
    for entry in set(EQUIVALENT) - excused:
        sys.exit(f"mutate.py: this entry of EQUIVALENT matches no mutant: {entry}")

    files["mutants.inc"] = (
        "constexpr mutant kMutants[] = {\n" + "".join(rows) + "};\n"
        "constexpr equivalent kEquivalent[] = {\n" + "".join(survivors) + "};\n")
    output.mkdir(parents=True, exist_ok=True)
    for old_file in output.iterdir():
        if old_file.name not in files:
            old_file.unlink()
    for name, content in files.items():
        path = output / name
        if not path.exists() or path.read_text() != content:  # avoids compiling unchanged mutants again
            path.write_text(content)


if __name__ == "__main__":
    main()
