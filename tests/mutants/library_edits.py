"""All edits of the library's code from which long/library_mutants_test.py draws. Each is a mistake that an author could make.
equivalent_edits.txt lists the edits that are as right as the original.

Not edited: comments, texts, directives, declarations of types and templates, static_asserts, throw statements, and code that
needs CUDA. Some edits change no object file. The test finds that when it compiles them.
"""

import re
from collections import Counter, namedtuple
from pathlib import Path

from mutate import code_only

# The edited files, as glob patterns: the kernels, the choice among them, the host's engine, and the parser of .npy headers.
# The other .cpp files of move/ and kernels/ allocate, plan and launch on a GPU.
EDITED = ["src/move/kernels/*.cu", "src/move/kernels/*.hpp", "src/move/*.hpp", "src/move/policy*.cpp", "src/ops/*/kernels/*.cu",
          "src/ops/*/kernels/*.hpp", "src/ops/*/kernels/policy*.cpp", "src/host/*.[ch]pp", "src/files/npy.cpp"]
LAB = "rung_"  # files that register the library's kernels with the lab
FITTED = "machine.hpp"  # constants of predicted costs

# before, after: the whole lines that differ, without leading and trailing space.
Edit = namedtuple("Edit", "path position old new before after")

SWAPPED = {}
for pair in ("rows cols", "row col", "source destination", "m n", "x y", "lda ldb", "from to", "first last", "begin end",
             "below above", "down across", "a b", "true false", "min max", "low high", "left right"):
    one, other = pair.split()
    SWAPPED[one], SWAPPED[other] = other, one
OPERATORS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
             "*": "+", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "+=": "-=", "-=": "+="}

NUMBER = r"(?<![\w.'])(?:0x[\da-fA-F']+|\d[\d']*)(?=[uUlL]*\b)(?![.\d])"
# clang-format puts spaces around binary operators, and none inside template arguments.
OPERATOR = r"(?<= )(?:%s)(?=[ \n])" % "|".join(sorted(map(re.escape, OPERATORS), key=len, reverse=True))
WORD = r"\b[a-zA-Z]\w*\b"
NEGATION = r"!(?=[\w(])"
STEP = r"\+\+(?=\w)|--(?=\w)"
CONDITION = r"\b(?:if|while)(?: constexpr)? \("
# A call, an assignment or a jump, at the beginning of a line or after its condition.
STATEMENT = (r"(?:(?<=\n)(?P<space> +)(?!return )|(?<=\) )|(?<=else ))"
             r"(?:(?:\*?[\w.\[\]>()-]+(?:<[^<>;]*>)?(?: [-+*/|&^%]?=| <<=| >>=) |[\w:.]+(?:<[^<>;()]*>)?\(|\+\+|--)[^;{}]*"
             r"|(?:continue|break|return)\b[^;{}]*);")
NOT_STATEMENTS = r"\s*(?:static_assert|using|typedef|else|case|namespace|CORNERTURN_\w+)\b"

BLANKED = [
    r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$",  # directives
    r"\bstatic_assert\((?:[^;\"]|\"[^\"]*\")*\);",
    r"\btemplate <[^{};]*?>(?=\n| \w+ )",
    r"^ *(?:using|typedef|namespace|friend|enum)\b[^;{]*[;{]",
    r"\bthrow [^;]*;",
    r"^ *(?:struct|class|union) [^;{]*[;{]",
    r"\b(?:alignas|__launch_bounds__|CORNERTURN_[A-Z_]+)\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)",
]


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def without_cuda(text):
    """The text with the code for CUDA alone blanked. Positions stay the same."""
    kept, hidden = [], []  # hidden: for each open #if, whether this branch or the other one is blanked
    for line in text.split("\n"):
        directive = re.match(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)", line)
        if directive:
            word, condition = directive.groups()
            cuda = re.search(r"CORNERTURN_WITH_CUDA|__CUDACC__|__CUDA_ARCH__", condition)
            emulated = "CORNERTURN_EMULATED" in condition
            negated = word == "ifndef" or "!" in condition
            if word in ("if", "ifdef", "ifndef"):
                hidden.append("this" if (cuda and not negated) or (emulated and negated) else
                              "other" if (cuda and negated) or emulated else "")
            elif word in ("else", "elif") and hidden:
                hidden[-1] = {"this": "", "other": "this", "": ""}[hidden[-1]]
            elif word == "endif" and hidden:
                hidden.pop()
        kept.append(" " * len(line) if "this" in hidden else line)
    return "\n".join(kept)


def edited_part(text):
    """The text with everything blanked that is not edited. Positions stay the same."""
    code = without_cuda(code_only(text))
    for pattern in BLANKED:
        code = re.sub(pattern, blank, code, flags=re.M)
    return code


def closing(code, opening):
    """The position of the parenthesis that closes the one at `opening`."""
    depth = 0
    for at in range(opening, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at
    return None


def replacements(code):
    """(position, old text, new text) of all edits, in no order."""
    for match in re.finditer(NUMBER, code):
        number = match[0].replace("'", "")
        yield match.start(), match[0], str(int(number, 0) + 1)
    for match in re.finditer(OPERATOR, code):
        yield match.start(), match[0], OPERATORS[match[0]]
    for match in re.finditer(NEGATION, code):
        yield match.start(), match[0], ""
    for match in re.finditer(STEP, code):
        yield match.start(), match[0], {"++": "--", "--": "++"}[match[0]]
    for match in re.finditer(CONDITION, code):
        end = closing(code, match.end() - 1)
        if end is not None and ";" not in code[match.end():end]:
            condition = code[match.end():end]
            yield match.end(), condition, f"!({condition})"
    names = set(re.findall(WORD, code))
    for match in re.finditer(WORD, code):
        parts = match[0].split("_")
        for i, part in enumerate(parts):
            if part in SWAPPED:
                other = "_".join(parts[:i] + [SWAPPED[part]] + parts[i + 1:])
                if other in names or other in ("true", "false"):
                    yield match.start(), match[0], other
    for match in re.finditer(STATEMENT, code):
        space = len(match["space"] or "")
        statement = match[0][space:]
        if not re.match(NOT_STATEMENTS, statement):
            yield match.start() + space, statement, ";" + "\n" * statement.count("\n")


def lines_of(text, begin, end):
    """The whole lines that [begin, end) touches."""
    return text.rfind("\n", 0, begin) + 1, (text + "\n").index("\n", end)


def stripped(lines):
    return "\n".join(line.strip() for line in lines.strip().split("\n")).strip()


def edits_of(path, text):
    code = edited_part(text)
    for position, old, new in sorted(replacements(code)):
        old = text[position:position + len(old)]  # with the string literals that are blanked in `code`
        if new.startswith("!("):
            new = f"!({old})"
        begin, end = lines_of(text, position, position + len(old))
        before = text[begin:end]
        after = text[begin:position] + new + text[position + len(old):end]
        yield Edit(path, position, old, new, stripped(before), stripped(after))


def all_edits(source):
    """The edits of all files, in the order of the files."""
    paths = sorted({path for pattern in EDITED for path in Path(source).glob(pattern)})
    return [edit for path in paths if not path.name.startswith(LAB) and path.name != FITTED
            for edit in edits_of(path.relative_to(source).as_posix(), path.read_text())]


def key_of(edit):
    return edit.path, edit.before, edit.after


def numbered(edits):
    """(edit, how many edits before it have the same key): a file may contain a line twice."""
    seen = Counter()
    for edit in edits:
        yield edit, seen[key_of(edit)]
        seen[key_of(edit)] += 1


def scope_of(text, position):
    """The name of the outermost function, type or table around a position. For a member function, "type::member"."""
    name, member, member_ends = "", "", False
    for line in text[:text.find("\n", position)].split("\n"):
        if member_ends:
            member = ""
        member_ends = line == "    }"
        if re.match(r"[\w\[]", line) and not re.match(r"(?:namespace|template|using|public|private)\b", line):
            found = (re.match(r"(?:struct|class|enum) (?:class )?(\w+)", line) or
                     re.match(r"[^(=]*?(\w+)(?:\[[^\]]*\])* ?[={;]", line) or re.search(r"([\w:]+)\(", line))
            name, member = found[1] if found else name, ""
        elif re.match(r"    [\w\[~]", line):
            found = re.match(r"    (?!(?:if|for|while|return|switch|else|case|const auto)\b)[^=;(]*?(\w+)\(", line)
            if found and (line.endswith(("{", "}", ",")) or not line.endswith(";")):
                member, member_ends = found[1], line.endswith("}")
    return f"{name}::{member}" if member else name


def shown(edit):
    """The edit in the form of equivalent_edits.txt."""
    return "\n".join([edit.path] + ["-" + line for line in edit.before.split("\n")] +
                     ["+" + line for line in edit.after.split("\n")])


def read_list(text):
    """[(key of an edit, scope, reason)] of a text such as equivalent_edits.txt. It has three kinds of lines: "# a reason", for
    all edits up to the next reason; the name of a file, with a scope if the file contains the line elsewhere, too; and the
    lines of each edit, as in a diff."""
    found, reason, path, scope, before, after = [], [], "", "", [], []

    def finish():
        if before:
            found.append(((path, "\n".join(before), "\n".join(after)), scope, " ".join(reason)))
        before.clear(), after.clear()

    ahead = ""
    for line in text.split("\n"):
        if line.startswith("-"):
            if after:
                finish()
            before.append(line[1:])
        elif line.startswith("+"):
            after.append(line[1:])
        elif line.strip():
            finish()
            if line.startswith("#"):
                if not ahead.startswith("#"):
                    reason.clear()
                reason.append(line[1:].strip())
            else:
                path, scope = (line.split() + [""])[:2]
        ahead = line if line.strip() else ahead
    finish()
    return found
