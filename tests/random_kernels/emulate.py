"""Runs a random program in the emulator."""

import json
import os
import subprocess


def run(cornerturn, folder, name, text, *arguments):
    """Returns the finished process, and the kernels of its report by their names without template arguments."""
    source, report = folder / f"{name}.cu", folder / f"{name}.json"
    source.write_text(text, encoding="utf-8")
    report.unlink(missing_ok=True)
    done = subprocess.run([cornerturn, "emulate", source.name, "--format", "json", "--output", report.name, *arguments], cwd=folder, capture_output=True,
                          text=True, timeout=500, env=os.environ | {"CORNERTURN_CACHE": str(folder / "cache")})
    kernels = json.loads(report.read_text())["kernels"] if report.exists() else []
    return done, {kernel["kernel"].split("<")[0]: kernel for kernel in kernels}
