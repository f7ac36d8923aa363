#!/usr/bin/env bash
# Makes the site in FOLDER: the report on the stored measurements, its plots, and the reference of the public headers.
#
#     scripts/site.sh FOLDER [BUILD]     BUILD: a configured build folder (build/cpu) whose program is built; needs doxygen
set -euo pipefail
[ $# -ge 1 ] && [ $# -le 2 ] || { sed -n '2,4p' "$0" >&2; exit 2; }
folder=$(realpath -m "$1")
cd "$(dirname "$0")/.."
build=${2:-build/cpu}

mkdir -p "$folder"
"$build/bin/cornerturn" report \
    results/ladder_transpose_16384x16384_f32.json results/counters_transpose_4096x4096_f32.json \
    results/bench_transpose.json results/bench_transpose_host.json \
    results/ladder_gemm_4096x4096x4096.json results/bench_gemm.json \
    --output "$folder/report.html" --plots "$folder/plots"
cmake --build "$build" --target reference
rm -rf "$folder/reference"
cp -r "$build/reference/html" "$folder/reference"
cat > "$folder/index.html" <<'PAGE'
<!doctype html>
<html lang="en"><meta charset="utf-8"><title>cornerturn</title>
<h1>cornerturn</h1>
<ul>
<li><a href="report.html">The measurements</a>, with plots</li>
<li><a href="reference/index.html">Reference of the public headers</a></li>
</ul>
</html>
PAGE
