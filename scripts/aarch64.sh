#!/usr/bin/env bash
# Compiles the libraries and the Python package for aarch64 with Debian's cross compiler. Runs the tests of the host library,
# and the package's tests with numpy, under qemu. It installs arm64 packages, so run it in a bare system:
#   scripts/fresh.sh --run scripts/aarch64.sh trixie
# It also compiles the part for GPUs if /usr/local/cuda contains NVIDIA's package for that processor, targets/sbsa-linux.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH=$PATH:/usr/local/cuda/bin
if [[ $(uname -m) != x86_64 ]] || ! grep -qs '^ID=debian' /etc/os-release; then
    echo "aarch64.sh: needs Debian on x86-64, because its archive also has arm64 packages" >&2
    exit 1
fi
as_root=()
if ((EUID != 0)); then as_root=(sudo); fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -qq "$@" > /dev/null; }

"${as_root[@]}" dpkg --add-architecture arm64
apt update
apt install --no-install-recommends cmake ninja-build g++ g++-aarch64-linux-gnu qemu-user-static \
    libtbb-dev:arm64 libhwy-dev:arm64 libgtest-dev:arm64 libfmt-dev:arm64 libpython3-dev:arm64 python3-venv

echo "== the library for host memory"
cmake --preset aarch64
cmake --build --preset aarch64
ctest --preset aarch64 --parallel "$(nproc)"

echo "== the Python package, with the library for GPUs if CUDA for aarch64 is installed"
tools=$PWD/build/aarch64-tools
python3 -m venv "$tools"
"$tools/bin/pip" install -q 'nanobind>=3.1,<4' 'nanobind-backend>=1,<2' 'numpy>=2'
cuda=OFF
if [[ -d /usr/local/cuda/targets/sbsa-linux ]]; then cuda=ON; fi
python=python$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
cmake -G Ninja -S . -B build/python-aarch64 -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64.cmake \
    -DCORNERTURN_PYTHON=ON -DCORNERTURN_CUDA=$cuda -DPython_EXECUTABLE="$tools/bin/python" \
    -DPython_INCLUDE_DIR="/usr/include/$python" -Dnanobind_DIR="$("$tools/bin/python" -m nanobind --cmake_dir)"
cmake --build build/python-aarch64

echo "== the package's tests with numpy"
packages=$PWD/build/aarch64-packages
mkdir -p "$packages"
cp -r python/cornerturn "$packages"
cmake --install build/python-aarch64 --prefix "$packages"
"$tools/bin/pip" install -q --upgrade --target "$packages" --only-binary :all: --platform manylinux_2_28_aarch64 \
    --platform manylinux_2_27_aarch64 --platform manylinux2014_aarch64 numpy ml_dtypes nanobind-backend pytest hypothesis
(cd "$packages" && rm -f ./*.deb && apt-get download -qq "$python-minimal:arm64" && dpkg -x "$python"-minimal_*_arm64.deb .)
PYTHONPATH=$packages qemu-aarch64-static "$packages/usr/bin/$python" -m pytest -q -p no:cacheprovider tests/python/test_numpy.py
