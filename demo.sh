#!/usr/bin/env bash
# Installs what is missing, builds the program and climbs the ladder of transposes: on the GPU where there is one,
# else in the emulator. Arguments are handed on:
#   ./demo.sh --rows 1000 --cols 1023 --format markdown
# Only what the program prints goes to stdout.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$PATH:/usr/local/cuda/bin
preset=cpu
if command -v nvcc > /dev/null && nvidia-smi -L > /dev/null 2>&1; then preset=cuda; fi
build=$root/build/$preset log=$root/build/demo.log

build_program() {
    cd "$root"
    # Without the tests, whose packages may not be here. A build that there is already keeps them.
    if [[ CMakePresets.json -nt $build/build.ninja ]]; then
        cmake --preset "$preset" -DCORNERTURN_TESTS=OFF || return
    fi
    cmake --build --preset "$preset" --target cornerturn
}

"$root/scripts/install.sh" >&2
mkdir -p "$root/build"
echo "Building cornerturn (preset $preset)" >&2
if ! (build_program) > "$log" 2>&1; then
    cat "$log" >&2
    echo "demo.sh: the build failed; the above is in build/demo.log" >&2
    exit 1
fi

program=$build/bin/cornerturn
"$program" ladder transpose "$@"
program=${program#"$PWD/"}
echo "To go on: $program list, or $program profile transpose/padded@32x8 --lines" >&2
