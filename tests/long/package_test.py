#!/usr/bin/env python3
"""The files that `cmake --install` installs are all that another project needs. The test installs each component separately,
moves it and uses it from there. It checks the files, the answers of find_package, three projects of consumer/ and the example
of docs/emulator.md. long/package_ways_test.py builds all projects."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import docs_test
from project import SOURCE, failures, must_run, require, setting
from script import names

CONSUMER = SOURCE / "tests/consumer"
# The files of each component, without the public headers and CMake's files, and the headers that it does not install.
COMPONENTS = {"host": ({"libcornerturn_host", "cornerturn_host.pc"}, "cuda/"),
              "cuda": ({"libcornerturn", "cornerturn.pc"}, "transpose.hpp"),
              "program": ({"cornerturn"}, None),
              "emulator": ({"cornerturn-cc", "Emulate.cmake", "EmulateSource.cmake"}, None)}
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def output_of(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    return done.returncode, done.stdout


def is_refused(code, text, *values):
    """Whether CMake failed, and its error names the values."""
    return code != 0 and names(" ".join(text.partition("CMake Error")[2].split()), *values)


def built():
    return [name for name in COMPONENTS if name != "cuda" or setting("CORNERTURN_CUDA") == "ON"]


def install(build, components, folder):
    """Installs to one folder, moves that to another, and returns the second."""
    for component in components:
        must_run(["cmake", "--install", build, "--prefix", folder / "built", "--component", component])
    prefix = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "installed"
    (folder / "built").rename(prefix)
    return prefix


def files_of(top):
    return {p.relative_to(top).as_posix() for p in top.rglob("*") if not p.is_dir()}


def check_component(component, build, folder):
    prefix = install(build, [component], folder)
    own, without = COMPONENTS[component]
    headers = files_of(SOURCE / "include/cornerturn")
    wanted = {name for name in headers if without and not name.startswith((without, "emulator/"))}
    if without:
        require(files_of(prefix / "include/cornerturn") == wanted, f"{component}: its public headers are installed, and no others")
    shims = "share/cornerturn/cuda/"  # the headers of `cornerturn cc`
    if component in ("program", "emulator"):
        require({name.removeprefix(shims) for name in files_of(prefix) if name.startswith(shims)} == files_of(SOURCE / "src/emulate/cuda"),
                f"{component}: the replacements of CUDA's headers are installed")
        require(files_of(prefix / "include/cornerturn") == {name for name in headers if name.startswith("emulator/")},
                f"{component}: and the headers that these include")
        own = own | {"libcornerturn_emulate"}
    rest = {pathlib.Path(name).name for name in files_of(prefix) if not name.startswith(("include/", shims))}
    allowed = {"cornerturnConfig.cmake", "cornerturnConfigVersion.cmake", f"{component}.cmake", f"{component}Targets.cmake",
               f"{component}Targets-{setting('CMAKE_BUILD_TYPE').lower()}.cmake"}
    rest = {re.sub(r"\.(a|so[.\d]*)$", "", name) for name in rest}
    require(rest == own | allowed, f"{component}: nothing else is installed {sorted(rest ^ (own | allowed)) or ''}")
    texts = [p for p in prefix.rglob("*") if p.suffix in (".cmake", ".pc")]
    named = [p.name for p in texts for place in (SOURCE, build, folder) if str(place) in p.read_text()]
    require(texts and not named, f"{component}: no file names the sources, the build or where it was installed {named}")
    return prefix


def configure(project, build, *options):
    command = ["cmake", "-S", project, "-B", build, "-DCMAKE_BUILD_TYPE=Release", *options]
    command += ["-G", setting("CMAKE_GENERATOR"), f"-DCMAKE_MAKE_PROGRAM={setting('CMAKE_MAKE_PROGRAM')}"]
    if nvcc := setting("CMAKE_CUDA_COMPILER"):
        command += [f"-DCUDAToolkit_ROOT={pathlib.Path(nvcc).parents[1]}"]
    return output_of(command)


def check_finds(prefix, folder, cases):
    """Cases: (arguments of find_package, more options, the values that its error must name). None: it is found, with its targets."""
    for arguments, options, values in cases:
        project = pathlib.Path(tempfile.mkdtemp(dir=folder))
        targets = [f"cornerturn::{name}" for name in COMPONENTS if name in arguments]
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.18)\nproject(finder LANGUAGES CXX)\n"
            f"find_package(cornerturn {arguments} REQUIRED)\nforeach(target {' '.join(targets)})\n"
            "if(NOT TARGET ${target})\nmessage(FATAL_ERROR no ${target})\nendif()\nendforeach()\n")
        code, text = configure(project, project / "build", f"-DCMAKE_PREFIX_PATH={prefix}", *options)
        if values is None:
            require(code == 0, f"find_package(cornerturn {arguments}) finds it {text if code else ''}")
        else:
            refused = is_refused(code, text, *values)
            require(refused, f"find_package(cornerturn {arguments}) is refused with {values}{'' if refused else '; not: ' + text}")


def no_package(*names):
    return [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in names]


def use_cmake(consumer, prefix, folder, *options, environment=None):
    build = pathlib.Path(tempfile.mkdtemp(dir=folder))
    code, text = configure(CONSUMER / consumer, build, f"-DCMAKE_PREFIX_PATH={prefix}", *options)
    if code == 0:
        code, text = output_of(["cmake", "--build", build])
    if code == 0:
        code, text = output_of([build / "consumer"], env={**os.environ, **(environment or {})})
    require(code == 0, f"consumer/{consumer} with find_package: {text.strip()}")


def check_emulated_test(prefix, folder):
    """The example of docs/emulator.md: its test passes. It fails after a bank conflict is planted in its header, and reports that."""
    project = folder / "emulated test"
    files = docs_test.documented_files("In your tests")
    require({"CMakeLists.txt", "transpose.hpp", "transpose.cu", "transpose_test.cpp"} <= files.keys(), f"docs/emulator.md has {sorted(files)}")
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    code, text = configure(project, project / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    require(code == 0, f"the example of docs/emulator.md configures {text if code else ''}")
    build = ["cmake", "--build", project / "build"]
    test = ["ctest", "--test-dir", project / "build", "--output-on-failure", "--no-tests=error"]
    code, text = output_of(build)
    require(code == 0, f"and builds {text if code else ''}")
    code, text = output_of(test)
    require(code == 0, f"and passes {text if code else ''}")
    code, text = output_of(build)
    again = names(text, "transpose.cu")
    require(code == 0 and not again, f"nothing is compiled twice {text if code or again else ''}")

    header = project / "transpose.hpp"
    planted = header.read_text().replace("kPad = 1", "kPad = 0")
    require(planted != header.read_text(), "the example's header has the line in which the conflict is planted")
    header.write_text(planted)
    code, text = output_of(build)
    require(code == 0 and names(text, "transpose.cu"), f"after a change of the header, its kernels are compiled again {text}")
    code, text = output_of(test)
    require(code != 0, f"the planted conflict fails {'' if code else text}")
    section = (SOURCE / "docs/emulator.md").read_text().partition("With `kPad = 0` the test fails:")[2]
    shown = next(lines for language, lines, _ in docs_test.fenced_blocks(section) if language == "text")
    require(not [line for line in shown if line not in text], f"as docs/emulator.md shows {shown}")


def check_refused_targets(prefix, folder):
    """cornerturn_emulate() refuses a target that it cannot handle with one error."""
    cases = [("cornerturn_emulate(absent)", ["absent"]),
             ("add_library(shared SHARED k.cu)\ncornerturn_emulate(shared)", ["shared", "SHARED_LIBRARY"]),
             ("add_executable(lacking lacking.cu)\ncornerturn_emulate(lacking)", ["lacking", "lacking.cu"]),
             ("add_executable(hidden $<1:k.cu>)\ncornerturn_emulate(hidden)", ["hidden", "$<1:k.cu>"]),
             ("add_executable(one k.cu)\nadd_executable(two k.cu)\ncornerturn_emulate(one two)", ["one;two"])]
    for lines, values in cases:
        project = pathlib.Path(tempfile.mkdtemp(dir=folder))
        (project / "k.cu").write_text("int main() {}\n")
        (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.21)\nproject(refused LANGUAGES CXX)\n"
                                                f"find_package(cornerturn REQUIRED COMPONENTS emulator)\n{lines}\n")
        code, text = configure(project, project / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
        refused = is_refused(code, text, "cornerturn_emulate", *values) and text.count("CMake Error") == 1
        require(refused, f"{lines.splitlines()[-1]} is refused with {values}{'' if refused else '; not: ' + text}")


def check_header(prefix, folder):
    """The C headers compile with no other include folder and with strict warnings, as C99 and as C++98."""
    headers = "".join(f"#include <{name}>\n" for name in sorted(files_of(prefix / "include")) if name.endswith(".h"))
    for suffix, compiler in [("c", ["gcc", "-std=c99", "-Wstrict-prototypes"]), ("cpp", ["g++", "-std=c++98"])]:
        source = folder / f"header.{suffix}"
        source.write_text(f"{headers}int main(void) {{ return (int)cornerturn_version_number(); }}\n")
        code, text = output_of([*compiler, *WARNINGS, "-Wpedantic", "-Wno-long-long", "-fsyntax-only", "-I", prefix / "include", source])
        require(code == 0, f"the C headers are valid {compiler[1][5:]} {text}")


def main():
    build = os.environ["CORNERTURN_BUILD_DIR"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        alone = {component: check_component(component, build, folder) for component in built()}
        host = alone["host"]
        code, text = output_of([alone["program"] / "bin/cornerturn", "--version"])
        require(code == 0 and text.strip() == setting("CMAKE_PROJECT_VERSION"), f"the installed program runs: {text.strip()}")
        for component in alone.keys() & {"host", "cuda"}:
            check_header(alone[component], folder)
        check_finds(host, folder, [
            ("", [], None),
            ("0.3 COMPONENTS host", [], None),
            ("9.0", [], ["9.0"]),
            ("COMPONENTS gemm", [], ["gemm", "host", "cuda", "program", "emulator"]),
            ("COMPONENTS host cuda", [], ["cuda", "--component cuda"]),
            ("COMPONENTS host", no_package("TBB"), ["cornerturn::host", "TBB", "libtbb-dev"]),
            ("", no_package("hwy"), ["cornerturn::host", "hwy", "libhwy-dev"])])
        for component in ("program", "emulator"):
            check_finds(alone[component], folder, [(f"COMPONENTS {component}", no_package("TBB", "hwy"), None)])
        if "cuda" in alone:
            check_finds(alone["cuda"], folder, [
                ("COMPONENTS cuda", no_package("TBB", "hwy"), None),
                ("COMPONENTS cuda", no_package("CUDAToolkit"), ["cornerturn::cuda", "CUDAToolkit_ROOT"])])
        check_finds(install(build, built(), folder), folder, [(f"0.3 COMPONENTS {' '.join(built())}", [], None)])
        for consumer in ["host", "host_c"]:
            use_cmake(consumer, host, folder)
        use_cmake("emulator", alone["emulator"], folder)
        check_emulated_test(alone["emulator"], folder)
        check_refused_targets(alone["emulator"], folder)
    if failures:
        sys.exit(f"{len(failures)} failed:\n" + "\n".join(failures))


if __name__ == "__main__":
    main()
