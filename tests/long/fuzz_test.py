"""Fuzzes the parser of .npy headers with clang's libFuzzer and the address and undefined-behaviour sanitizers. It takes 20
seconds, or CORNERTURN_FUZZ_SECONDS."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["CORNERTURN_SOURCE_DIR"])
SECONDS = int(os.environ.get("CORNERTURN_FUZZ_SECONDS", "20"))
SANITIZERS = "fuzzer,address,undefined"

HEADERS = [
    (1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }"),
    (1, "{'descr': '|b1', 'fortran_order': True, 'shape': (), }"),
    (2, "{'descr': [('a', '<i4', (2, 3)), ('b', [('c', '|S3')]), (('title', 'd'), '>U2')], 'fortran_order': False, 'shape': (7,), }"),
    (3, "{'descr': [('größe', '<M8[ns]')], 'fortran_order': False, 'shape': (0, 9223372036854775807), }"),
    (1, "{'descr': '|O', 'fortran_order': False, 'shape': (3, 4), }"),
    (1, "{'descr': ('<f8', (2, 2)), 'fortran_order': False, 'shape': (3L, 4L, 5L), }"),
]
TOKENS = ["'descr'", "'fortran_order'", "'shape'", "True", "False", "'<f8'", "'|S'", "'<U9'", "'|V8'", "[ns]", "L", "\\x93NUMPY",
          "9223372036854775807", "-1", "(", ")", "[", "]", "{", "}"]


def main():
    compiler = shutil.which("clang++")
    if compiler is None:
        sys.exit("FAILED: clang++ is missing (scripts/install.sh --all installs it)")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program, corpus = folder / "npy_fuzz", folder / "corpus"
        corpus.mkdir()
        for i, (version, text) in enumerate(HEADERS):
            data = text.encode()
            length = len(data).to_bytes(2 if version == 1 else 4, "little")
            (corpus / str(i)).write_bytes(b"\x93NUMPY" + bytes([version, 0]) + length + data)
        (folder / "tokens").write_text("".join('"' + token.replace('"', '\\"') + '"\n' for token in TOKENS))
        subprocess.run([compiler, "-std=c++20", "-O1", "-g", f"-fsanitize={SANITIZERS}", "-fno-sanitize-recover=all",
                        "-DFMT_HEADER_ONLY", "-I", SOURCE / "include", "-I", SOURCE / "src", "-I", SOURCE / "tests",
                        SOURCE / "tests/long/npy_fuzz.cpp", SOURCE / "src/files/npy.cpp", "-o", program], check=True)
        # The fuzzer prints its seed.
        ran = subprocess.run([program, corpus, f"-dict={folder / 'tokens'}", f"-max_total_time={SECONDS}", "-max_len=4096",
                              "-timeout=10", f"-artifact_prefix={folder}/"], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace")
        lines = ran.stdout.splitlines()
        print("\n".join(lines[:3] + ["..."] + lines[-12:]))
        for found in folder.glob("crash-*"):
            print(f"{found.name}: {found.read_bytes()!r}")
        sys.exit(ran.returncode)


if __name__ == "__main__":
    main()
