#!/usr/bin/env python3
"""What `cmake --install` installs is all that another project needs: installed, moved elsewhere, and used from there by
the projects in consumer/, in C++ and in C, through find_package and through pkg-config. Without a GPU those that want one
want the errors that say so. A build without CUDA has no library for a GPU: that it says so is checked, and the rest
skipped."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from drop_in_test import SOURCE, failures, must_run, require, setting

CONSUMER = SOURCE / "tests/consumer"
NEEDS_CUDA = ("cuda/", "cornerturn.h")
LANGUAGES = {"cpp": ["g++", "-std=c++20"], "c": ["gcc", "-std=c99"]}
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def output_of(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    return done.returncode, done.stdout


def install(folder):
    """Installs to one place and moves to another: returns the second."""
    must_run(["cmake", "--install", os.environ["CORNERTURN_BUILD_DIR"], "--prefix", folder / "built"])
    (folder / "built").rename(folder / "installed")
    return folder / "installed"


def check_files(prefix, cuda):
    headers = lambda top: {p.relative_to(top).as_posix() for p in top.rglob("*") if p.is_file()}
    wanted = {name for name in headers(SOURCE / "include/cornerturn") if cuda or not name.startswith(NEEDS_CUDA)}
    require(headers(prefix / "include/cornerturn") == wanted, "the public headers are installed, and no others")
    texts = [p for p in prefix.rglob("*") if p.suffix in (".cmake", ".pc")]
    places = [SOURCE, os.environ["CORNERTURN_BUILD_DIR"], prefix.parent]
    named = [p.name for p in texts for place in places if str(place) in p.read_text()]
    require(texts and not named, f"no installed file names the sources, the build or where it was installed {named}")
    code, text = output_of([prefix / "bin/cornerturn", "--version"])
    require(code == 0, f"the installed program runs: {text.strip()}")


def configure(project, prefix, build):
    command = ["cmake", "-S", project, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release"]
    command += ["-G", setting("CMAKE_GENERATOR"), f"-DCMAKE_MAKE_PROGRAM={setting('CMAKE_MAKE_PROGRAM')}"]
    if nvcc := setting("CMAKE_CUDA_COMPILER"):
        command += [f"-DCUDAToolkit_ROOT={pathlib.Path(nvcc).parents[1]}"]
    return output_of(command)


def find_package(arguments, prefix, folder):
    """What a project that does nothing but find the package has to say."""
    project = pathlib.Path(tempfile.mkdtemp(dir=folder))
    (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(finder LANGUAGES CXX)\n"
                                            f"find_package(cornerturn {arguments} REQUIRED)\n"
                                            "if(NOT TARGET cornerturn::cornerturn)\nmessage(FATAL_ERROR no target)\nendif()\n")
    code, text = configure(project, prefix, project / "build")
    return code, " ".join(text.split())


def check_package(prefix, folder, cuda):
    code, text = find_package("", prefix, folder)
    require(code == 0, f"find_package finds it {text if code else ''}")
    code, text = find_package("9.0", prefix, folder)
    require(code != 0 and "9.0" in text, "it is no version 9.0")
    code, text = find_package("0.1 COMPONENTS gemm", prefix, folder)
    require(code != 0 and "cornerturn has no component gemm" in text, "a component that there is not is refused by name")
    code, text = find_package("0.1 COMPONENTS host", prefix, folder)
    require(code == 0, f"it has the component host {text if code else ''}")
    code, text = find_package("0.1 COMPONENTS cuda", prefix, folder)
    if cuda:
        require(code == 0, f"it has the component cuda {text if code else ''}")
    else:
        require(code != 0 and "this cornerturn was built without CUDA" in text, "without CUDA it says so where CUDA is asked for")


def run_consumer(how, program, environment=None):
    code, text = output_of([program], env={**os.environ, **(environment or {})})
    require(code == 0 and re.match(r"transposed|no GPU: cudaError", text), f"and, built with {how}, runs: {text.strip()}")


def use_cmake(consumer, prefix, folder):
    build = folder / f"by_cmake_{consumer}"
    code, text = configure(CONSUMER / consumer, prefix, build)
    if code == 0:
        code, text = output_of(["cmake", "--build", build])
    require(code == 0, f"consumer/{consumer} builds with find_package {text if code else ''}")
    if code == 0:
        run_consumer("find_package", build / "consumer")


def use_pkg_config(consumer, package, prefix, folder):
    tool = shutil.which("pkg-config") or shutil.which("pkgconf")
    require(tool, "there is pkg-config (scripts/install.sh --tests installs it)")
    if tool is None:
        return
    library_dir = next(prefix.rglob(f"{package}.pc")).parents[1]
    environment = {**os.environ, "PKG_CONFIG_PATH": str(library_dir / "pkgconfig")}
    ask = lambda *options: shlex.split(output_of([tool, *options, package], env=environment)[1])
    # A shared libcornerturn keeps its CUDA runtime to itself: the consumer's own calls need one.
    libraries = ask("--libs") + (ask("--variable=cuda_libs") if setting("BUILD_SHARED_LIBS") == "ON" else [])
    program = folder / f"by_pkg_config_{consumer}"
    source = next((CONSUMER / consumer).glob("main.*"))
    compiler = LANGUAGES[source.suffix[1:]]
    code, text = output_of([*compiler, *WARNINGS, *ask("--cflags"), source, "-o", program, *libraries])
    require(code == 0, f"consumer/{consumer} builds with pkg-config and {compiler[0]} {text if code else ''}")
    if code == 0:
        run_consumer("pkg-config", program, {"LD_LIBRARY_PATH": str(library_dir)})


def check_header(prefix, folder):
    """cornerturn.h alone, with no other include path, as strict as each language can be."""
    for suffix, compiler in [("c", ["gcc", "-std=c99", "-Wstrict-prototypes"]), ("cpp", ["g++", "-std=c++98"])]:
        source = folder / f"header.{suffix}"
        source.write_text("#include <cornerturn/cornerturn.h>\nint main(void) { return (int)cornerturn_version_number(); }\n")
        code, text = output_of([*compiler, *WARNINGS, "-Wpedantic", "-Wno-long-long", "-fsyntax-only", "-I", prefix / "include", source])
        require(code == 0, f"cornerturn.h is plain {compiler[1][5:]} {text}")


def main():
    cuda = setting("CORNERTURN_CUDA") == "ON"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prefix = install(folder)
        check_files(prefix, cuda)
        check_package(prefix, folder, cuda)
        consumers = {"host": "cornerturn_host"}
        if cuda:
            check_header(prefix, folder)
            consumers |= {"cpp": "cornerturn", "c": "cornerturn"}
        for consumer, package in consumers.items():
            use_cmake(consumer, prefix, folder)
            use_pkg_config(consumer, package, prefix, folder)
    if failures:
        sys.exit(f"{len(failures)} failed:\n" + "\n".join(failures))
    if not cuda:
        print("skipped: this build has no CUDA, and so no library for the GPU's consumers to use")
        sys.exit(77)


if __name__ == "__main__":
    main()
