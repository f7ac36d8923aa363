"""Runs a drawn program in the emulator."""

import json
import os
import subprocess


def run(cornerturn, folder, name, text, *words):
    """What came of the program: the process, and its kernels in the report by the name without template arguments."""
    source, report = folder / f"{name}.cu", folder / f"{name}.json"
    source.write_text(text, encoding="utf-8")
    report.unlink(missing_ok=True)
    done = subprocess.run([cornerturn, "emulate", source.name, "--format", "json", "--output", report.name, *words], cwd=folder, capture_output=True,
                          text=True, timeout=500, env=os.environ | {"CORNERTURN_CACHE": str(folder / "cache")})
    kernels = json.loads(report.read_text())["kernels"] if report.exists() else []
    return done, {kernel["kernel"].split("<")[0]: kernel for kernel in kernels}
