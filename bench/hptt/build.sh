#!/usr/bin/env bash
# Builds HPTT (https://github.com/springer13/hptt, BSD), a peer of what moves elements in host memory, and the few C
# functions by which `cornerturn bench --on host` calls it.
#     bench/hptt/build.sh [HPTT] [TO]
# HPTT: a clone of it; it is cloned where there is none (build/hptt). TO: where libcornerturn_hptt.so goes (build). The
# program finds it by LD_LIBRARY_PATH, and skips the peer where there is none.
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
