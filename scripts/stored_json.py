"""Writes JSON for results/. A value takes one line if it is short, or if it contains no other lists or objects. A diff then
shows which values changed."""

import json

WIDTH = 400


def text(value, indent=""):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    line = json.dumps(value, ensure_ascii=False)
    if len(line) <= WIDTH or not any(isinstance(part, (dict, list)) for part in inner):
        return line
    deeper = indent + " "
    if isinstance(value, dict):
        parts = (f"{json.dumps(key, ensure_ascii=False)}: {text(part, deeper)}" for key, part in value.items())
    else:
        parts = (text(part, deeper) for part in value)
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return f"{begin}\n" + ",\n".join(deeper + part for part in parts) + f"\n{indent}{end}"


def store(path, value):
    path.write_text(text(value) + "\n", encoding="utf-8")
