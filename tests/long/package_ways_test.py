#!/usr/bin/env python3
"""Every method by which another project can use the libraries: static and shared; by find_package, pkg-config, a plain compiler
line, FetchContent and add_subdirectory; from C++ and C; built by every installed compiler, with no package that is not needed.
Without a GPU, projects that need one must get the errors that say so. If the build has no CUDA, the parts that need it are left
out, and the test counts as skipped."""

import atexit
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import docs_test
from compile_test import compilers
from project import copy_sources, failures, in_ccache, like_the_build, require, setting
from package_test import (CONSUMER, SOURCE, WARNINGS, built, configure, install, is_refused, no_package, output_of, use_cmake)
from script import names

LANGUAGES = {"cpp": ["g++", "-std=c++20"], "c": ["gcc", "-std=c99"]}
LAB_PACKAGES = no_package("fmt", "nlohmann_json", "CLI11", "boost_context")
USING = SOURCE / "docs/using.md"


# Checks that this build or machine cannot run. If there are any, the test counts as skipped.
left_out = []


def build_beside(name, sources=SOURCE):
    """A new build folder in build/, where ccache can reuse the object files of the test's own build: it compares paths relative to
    the folder."""
    build = sources / "build" / f"ways-{name}"
    shutil.rmtree(build, ignore_errors=True)
    atexit.register(shutil.rmtree, build, ignore_errors=True)
    return build


def by_ccache(sources):
    """Options for a project that contains these sources."""
    return [f"-DCMAKE_CXX_COMPILER_LAUNCHER=env;CCACHE_BASEDIR={sources};{setting('CCACHE')}"] if in_ccache() else []


def build_libraries(build, *options, targets=("cornerturn_host",)):
    code, text = configure(SOURCE, build, "-DCORNERTURN_LAB=OFF", "-DCORNERTURN_TESTS=OFF", *LAB_PACKAGES, *like_the_build(), *options)
    if code == 0:
        code, text = output_of(["cmake", "--build", build, "--target", *targets])
    require(code == 0, f"the libraries are built with {options} {text if code else ''}")
    return code == 0


def run(how, program, environment=None):
    code, text = output_of([program], env={**os.environ, **(environment or {})})
    require(code == 0, f"{how}: {text.strip()}")


def check_cuda_sources(compiler):
    """The C++ files of the GPU's library compile. Only nvcc compiles its CUDA files."""
    sources = [*SOURCE.glob("src/ops/*/kernels/*.cpp"), *SOURCE.glob("src/device/cuda_[cd]*.cpp"), *SOURCE.glob("src/core/*.cpp")]
    sources = [p for p in sources if p.stem in ("arguments", "c_status", "cuda_check", "cuda_device") or "kernels" in p.parts]
    toolkit = pathlib.Path(setting("CMAKE_CUDA_COMPILER")).parents[1]
    for source in sources:
        code, text = output_of([compiler, "-std=c++20", *WARNINGS, "-Wpedantic", "-fsyntax-only", "-DCORNERTURN_WITH_CUDA",
                                "-I", SOURCE / "include", "-I", SOURCE / "src", "-isystem", toolkit / "include", source])
        require(code == 0, f"{compiler}: {source.relative_to(SOURCE)} compiles {text if code else ''}")


def use_pkg_config(consumer, package, prefix, folder, shared):
    tool = shutil.which("pkg-config") or shutil.which("pkgconf")
    require(tool, "pkg-config is installed (scripts/install.sh --tests installs it)")
    if tool is None:
        return
    library_dir = next(prefix.rglob(f"{package}.pc")).parents[1]
    environment = {**os.environ, "PKG_CONFIG_PATH": str(library_dir / "pkgconfig")}
    ask = lambda *options: shlex.split(output_of([tool, *options, package], env=environment)[1])
    # A shared libcornerturn does not export its CUDA runtime: the consumer's own calls need another.
    libraries = ask("--libs") + (ask("--variable=cuda_libs") if shared and package == "cornerturn" else [])
    if shared:
        require(not any(library in libraries for library in ("-ltbb", "-lhwy")), "a user of a shared library links no library that it uses")
    source = next((CONSUMER / consumer).glob("main.*"))
    program = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "consumer"
    code, text = output_of([*LANGUAGES[source.suffix[1:]], *WARNINGS, *ask("--cflags"), source, "-o", program, *libraries])
    require(code == 0, f"consumer/{consumer} builds with pkg-config {text if code else ''}")
    if code == 0:
        run(f"consumer/{consumer} with pkg-config", program, {"LD_LIBRARY_PATH": str(library_dir)})


def use_plain_line(prefix, folder):
    """The compiler lines of docs/using.md, with `prefix` instead of PREFIX."""
    lines = [line for language, lines, _ in docs_test.fenced_blocks(USING.read_text()) if language == "sh"
             for line in lines if line.startswith(("g++", "gcc")) and "cudart" not in line]
    require(len(lines) == 2, f"docs/using.md has two lines for a plain compiler {lines}")
    for line in lines:
        language = "cpp" if line.startswith("g++") else "c"
        (folder / f"yours.{language}").write_text((CONSUMER / ("host" if language == "cpp" else "host_c") / f"main.{language}").read_text())
        code, text = output_of(shlex.split(line.replace("PREFIX", str(prefix))), cwd=folder)
        require(code == 0, f"{line} {text if code else ''}")
        if code == 0:
            run("and runs", folder / "yours")


def check_shared(prefix):
    libraries = [p for p in prefix.rglob("libcornerturn*.so.*") if not p.is_symlink()]
    require(len(libraries) == len({"host", "cuda"} & set(built())), f"the shared libraries are installed: {[p.name for p in libraries]}")
    for library in libraries:
        text = output_of(["readelf", "-d", library])[1]
        soname = re.search(r"SONAME.*\[(.*)\]", text)[1]
        version = setting("CMAKE_PROJECT_VERSION")
        require(soname == library.name.removesuffix(version) + ".".join(version.split(".")[:2]),
                f"{library.name} has the SONAME {soname}")
        needed = set(re.findall(r"NEEDED.*\[(.*?)\.so", text))
        allowed = {"libstdc++", "libm", "libgcc_s", "libc", "ld-linux-x86-64", "libtbb", "libhwy", "libdl", "librt", "libpthread"}
        require(needed <= allowed, f"{library.name} needs {sorted(needed)}")
        require(("libtbb" in needed) == ("host" in library.name), f"{library.name}: only the host library needs oneTBB")


def use_sources(folder, prefix):
    """FetchContent and add_subdirectory, of sources elsewhere, of sources in a subfolder, and through a symbolic link."""
    (folder / "link").symlink_to(SOURCE)
    nested = folder / "their" / "third_party" / "cornerturn"
    copy_sources(nested)
    for by, sources, build in [("FetchContent", SOURCE, build_beside("fetched")),
                               ("add_subdirectory", folder / "link", folder / "by_link" / "deep" / "build"),
                               ("add_subdirectory", nested, build_beside("nested", nested))]:
        before = {p for top in (folder, SOURCE) for p in top.rglob("*") if "build" not in p.parts and ".git" not in p.parts}
        code, text = configure(CONSUMER / "source", build, f"-DCORNERTURN_SOURCES={sources}", f"-DBY={by}", f"-DCMAKE_PREFIX_PATH={prefix}", *LAB_PACKAGES,
                               *like_the_build(), *by_ccache(sources), "-DCMAKE_BUILD_TYPE=Debug")  # compiles fastest
        require(code == 0, f"{by} of {sources.name} configures, without the lab's packages {text if code else ''}")
        after = {p for top in (folder, SOURCE) for p in top.rglob("*") if "build" not in p.parts and ".git" not in p.parts}
        strays = {p for p in after - before if build not in p.parents and p not in build.parents and p != build and "__pycache__" not in p.parts}
        require(not strays, f"nothing is written outside the build {sorted(strays) or ''}")
        if code == 0:
            code, text = output_of(["cmake", "--build", build])
            require(code == 0, f"{by} of {sources.name} builds {text if code else ''}")
        if code == 0:
            run(f"{by} of {sources.name}", build / "consumer")
            run("and cornerturn::cornerturn", build / "consumer_of_all")


def use_emulator_sources():
    """Inside another project, the emulator needs no packages of the other parts."""
    build = build_beside("of the emulator")
    code, text = configure(CONSUMER / "emulator", build, f"-DCORNERTURN_SOURCES={SOURCE}", *no_package("CLI11", "TBB", "hwy"), *by_ccache(SOURCE),
                           *like_the_build())
    require(code == 0, f"the emulator configures inside another project {text if code else ''}")
    if code == 0:
        code, text = output_of(["cmake", "--build", build, "--target", "consumer"])
        require(code == 0, f"and builds {text if code else ''}")
    if code == 0:
        run("and its consumer", build / "consumer")
        code, text = output_of(["cmake", "--build", build, "--target", "consumer"])
        again = names(text, "kernels.cu") or names(text, "more.cu")
        require(not again, f"nothing is compiled twice {text if again else ''}")


def check_refusals(folder):
    """A build that cannot work is refused with one error."""
    old = folder / "old++"
    old.write_text('#!/bin/sh\nexec g++ -U__GNUC__ -D__GNUC__=11 "$@"\n')
    old.chmod(0o755)
    without_nvcc = ":".join(p for p in os.environ["PATH"].split(":") if not (pathlib.Path(p) / "nvcc").exists())
    off = "-DCORNERTURN_LAB=OFF"
    no_nvcc = ["nvcc", "-DCORNERTURN_CUDA=ON", "-DCMAKE_CUDA_COMPILER"]
    cases = [([off, f"-DCMAKE_CXX_COMPILER={old}"], ["g++ 12", "clang 14", "GNU 11."]),
             (["-DCMAKE_CXX_COMPILER=clang++"], ["g++", "Clang"]),
             ([off, *no_package("TBB")], ["TBB", "-DCORNERTURN_HOST=OFF", "libtbb-dev"]),
             ([off, *no_package("hwy")], ["hwy", "-DCORNERTURN_HOST=OFF", "libhwy-dev"]),
             (no_package("CLI11"), ["CLI11", "-DCORNERTURN_LAB=OFF", "libcli11-dev"]),
             ([off, "-DCORNERTURN_HOST=OFF"], ["-DCORNERTURN_HOST=ON"]),
             (["-DCORNERTURN_HOST=OFF"], ["CORNERTURN_HOST", "-DCORNERTURN_LAB=OFF"]),
             (["-DCORNERTURN_EMULATOR=OFF"], ["CORNERTURN_EMULATOR", "-DCORNERTURN_LAB=OFF"]),
             ([off, "-DCORNERTURN_EMULATOR=ON", *no_package("fmt")], ["fmt", "-DCORNERTURN_EMULATOR=OFF", "libfmt-dev"]),
             ([off, "-DCORNERTURN_CUDA=ON", "-DCMAKE_CUDA_COMPILER=/nowhere/nvcc"], no_nvcc),
             ([off, "-DCORNERTURN_CUDA=ON"], no_nvcc)]
    if not all(shutil.which(tool, path=without_nvcc) for tool in ("cmake", "g++")):
        left_out.append("a PATH without nvcc: here nvcc is in the folder of cmake or g++")
        cases.pop()
        without_nvcc = os.environ["PATH"]
    for options, values in cases:
        build = pathlib.Path(tempfile.mkdtemp(dir=folder))
        code, text = output_of(["cmake", "-S", SOURCE, "-B", build, *options], env={**os.environ, "PATH": without_nvcc, "CUDACXX": ""})
        refused = is_refused(code, text, *values) and text.count("CMake Error") == 1
        require(refused, f"{' '.join(options)} is refused with {values} {'' if refused else text}")
    fails = folder / "fails" / "nvcc"
    fails.parent.mkdir()
    fails.write_text("#!/bin/sh\nexit 1\n")
    fails.chmod(0o755)
    # The second case configures the same folder.
    for path, values in ((f"{fails.parent}:{without_nvcc}", [fails, "GNU", "CUDAHOSTCXX"]), (without_nvcc, no_nvcc)):
        code, text = output_of(["cmake", "-S", SOURCE, "-B", fails.parent / "build", off, "-DCORNERTURN_CUDA=ON"],
                               env={**os.environ, "PATH": path, "CUDACXX": ""})
        refused = is_refused(code, text, *values)
        require(refused, f"an nvcc that compiles nothing, then none, is refused with {values} {'' if refused else text}")


def check_architectures(folder):
    """Also if the parent project chose them."""
    parent = folder / "parent"
    parent.mkdir()
    (parent / "CMakeLists.txt").write_text(f"""cmake_minimum_required(VERSION 3.25)
project(parent LANGUAGES CXX)
set(CORNERTURN_CUDA ON)
set(CORNERTURN_HOST OFF)
set(CMAKE_CUDA_ARCHITECTURES 80 ${{WANTED}})
add_subdirectory({SOURCE} cornerturn)
""")
    for wanted, number in (("70", "70"), ("61-real", "61-real"), ("90a-real", None)):
        code, text = output_of(["cmake", "-S", parent, "-B", folder / f"of-{wanted}", f"-DWANTED={wanted}"])
        values = [75, "CMAKE_CUDA_ARCHITECTURES", f"80;{wanted}", number]
        right = code == 0 if number is None else is_refused(code, text, *values)
        require(right, f"architectures 80 and {wanted}: {'accepted' if number is None else f'refused with {values}'} {'' if right else text}")


def check_gpus(folder):
    """Kernels whose code differs by GPU (device/dialect_cuda.hpp) compile for each kind of GPU. The build is for one kind."""
    nvcc = setting("CMAKE_CUDA_COMPILER")
    known = output_of([nvcc, "--list-gpu-code"])[1].split()
    for gpu in sorted({"sm_75", "sm_80", "sm_120"} & set(known)):
        for kernel in ("../move/kernels/rows.cu", "gemm/ladder/390_swizzled.cu", "transpose/ladder/120_kept.cu"):
            code, text = output_of([nvcc, "-std=c++20", f"-arch={gpu}", "-cubin", "-DCORNERTURN_BUILD=any", "-I", SOURCE / "include", "-I", SOURCE / "src",
                                    SOURCE / "src/ops" / kernel, "-o", folder / "any.cubin"])
            require(code == 0, f"{kernel} compiles for {gpu} {text if code else ''}")


def check_not_built(folder):
    """Installing a component that is not in the build is an error."""
    build = folder / "host_alone"
    configure(SOURCE, build, "-DCORNERTURN_LAB=OFF", "-DCORNERTURN_TESTS=OFF")
    for component, option in [("cuda", "CUDA"), ("program", "LAB"), ("emulator", "EMULATOR")]:
        code, text = output_of(["cmake", "--install", build, "--prefix", folder / "nowhere", "--component", component])
        refused = is_refused(code, text, component, f"-DCORNERTURN_{option}=ON")
        require(refused, f"cmake --install --component {component} is refused {'' if refused else text}")


def main():
    cuda = "cuda" in built()
    libraries = ["host", "cuda"] if cuda else ["host"]
    if not cuda:
        left_out.append("the projects that use the GPU's library: this build has no CUDA")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        targets = [f"cornerturn_{component}" for component in libraries]
        # In a folder beside the test's own build, relative paths are the same, so ccache can reuse its object files.
        build = pathlib.Path(os.environ["CORNERTURN_BUILD_DIR"])
        shared = (build.parent if build.parent == SOURCE / "build" else folder) / f"shared-{build.name}"
        more = ["-DBUILD_SHARED_LIBS=ON"] + (["-DCORNERTURN_CUDA=ON"] if cuda else [])
        prefixes = {"static": install(build, libraries, folder)}
        if build_libraries(shared, *more, targets=targets):
            prefixes["shared"] = install(shared, libraries, folder)
            check_shared(prefixes["shared"])
        for kind, prefix in prefixes.items():
            print(f"{kind}:")
            # A user of a shared library need not find the packages that it links to.
            options = no_package("TBB", "hwy") if kind == "shared" else []
            for consumer in ["host", "host_c"] + (["cpp", "c", "both"] if cuda else []):
                use_cmake(consumer, prefix, folder, *options)
            for consumer, package in [("host", "cornerturn_host"), ("host_c", "cornerturn_host")] + (
                    [("cpp", "cornerturn"), ("c", "cornerturn")] if cuda else []):
                use_pkg_config(consumer, package, prefix, folder, kind == "shared")
        use_plain_line(prefixes["static"], folder)
        if cuda:  # only configured: its files were compiled above
            code, text = configure(SOURCE, folder / "cuda_alone", "-DCORNERTURN_LAB=OFF", "-DCORNERTURN_HOST=OFF", "-DCORNERTURN_CUDA=ON",
                                   *LAB_PACKAGES, *no_package("TBB", "hwy"), *like_the_build())
            require(code == 0, f"the GPU's library needs no package {text if code else ''}")
        for compiler in compilers():
            build = build_beside(f"by {pathlib.Path(compiler).name}")
            kind = "Release" if compiler == setting("CMAKE_CXX_COMPILER") else "Debug"  # compiles fastest
            if build_libraries(build, f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_BUILD_TYPE={kind}"):
                use_cmake("host", install(build, ["host"], folder), folder, f"-DCMAKE_CXX_COMPILER={compiler}")
            if cuda:
                check_cuda_sources(compiler)
        use_sources(folder, prefixes["static"])
        use_emulator_sources()
        check_refusals(folder)
        if cuda:
            check_architectures(folder)
            check_gpus(folder)
        check_not_built(folder)
    if failures:
        sys.exit(f"{len(failures)} failed:\n" + "\n".join(failures))
    if left_out:
        print("skipped; all other checks passed: " + "; ".join(left_out))
        sys.exit(77)


if __name__ == "__main__":
    main()
