#!/usr/bin/env bash
# Builds HPTT (https://github.com/springer13/hptt, BSD), a peer of the kernels for host memory, and the C functions with
# which `cornerturn bench --on host` calls it.
#     bench/hptt/build.sh [HPTT] [TO]
# HPTT: a clone of HPTT (default: build/hptt). If the folder does not exist, HPTT is cloned into it. TO: the folder for
# libcornerturn_hptt.so (default: build). The program finds the library with LD_LIBRARY_PATH. Without it, the program
# skips this peer.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
hptt=${1:-$root/build/hptt} to=${2:-$root/build}
commit=942538649b51ff14403a0c73a35d9825eab2d7de
if [[ ! -e $hptt ]]; then
    git clone --quiet https://github.com/springer13/hptt.git "$hptt"
    git -C "$hptt" checkout --quiet "$commit"
fi
mkdir -p "$to"
flags=(-O3 -std=c++14 -march=native -mavx -DHPTT_ARCH_AVX -fopenmp -fPIC -shared -w)
${CXX:-g++} "${flags[@]}" -I"$hptt/include" "$hptt"/src/*.cpp "$here/hptt.cpp" -o "$to/libcornerturn_hptt.so"
echo "$to/libcornerturn_hptt.so"
