#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that cornerturn needs, those that are missing alone.
#   scripts/install.sh            to build and run the program
#   scripts/install.sh --tests    to run the tests too, and to build the `device` preset
#   scripts/install.sh --all      and the long ones
set -euo pipefail

packages=(g++ cmake ninja-build git
          libcli11-dev libfmt-dev nlohmann-json3-dev libboost-context-dev libdw-dev libelf-dev
          libtbb-dev libhwy-dev)
# The last two draw the documents' pictures. The three before are what a static libdw needs: on Ubuntu it needs zstd too,
# which libelf-dev brings there.
test_packages=(libgtest-dev libgmock-dev python3 python3-dev python3-venv python3-numpy pkgconf clang-format-14 ccache
               liblzma-dev libbz2-dev zlib1g-dev librsvg2-bin python3-cairosvg)

fail() {
    echo "install.sh: $1" >&2
    exit "${2:-1}"
}

case "$*" in
    '') ;;
    --tests) packages+=("${test_packages[@]}") ;;
    --all) packages+=("${test_packages[@]}" clang chromium libeigen3-dev doxygen) ;;
    *) fail "usage: scripts/install.sh [--tests | --all]" 2 ;;
esac

command -v apt-get > /dev/null ||
    fail "there is no apt on this machine; what cornerturn needs is, under Debian's names: ${packages[*]}"

# dpkg-query fails where it does not know a package; those that it knows may have been removed.
installed=" $(dpkg-query -W -f '${Package}=${db:Status-Status} ' "${packages[@]}" 2> /dev/null || true)"
missing=()
for package in "${packages[@]}"; do
    [[ $installed == *" $package=installed "* ]] || missing+=("$package")
done
((${#missing[@]} > 0)) || exit 0

as_root=()
if ((EUID != 0)); then
    command -v sudo > /dev/null || fail "to install ${missing[*]}, run this as root: there is no sudo on this machine"
    as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A machine that has just started may be busy with its own upgrades: wait for those.
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=300 "$@" > "$log" 2>&1 < /dev/null
}

echo "Installing ${missing[*]}"
# One unreachable source among several is no reason to stop: whether the packages can be had, their installation tells.
apt update || cat "$log" >&2
if ! apt install --no-install-recommends "${missing[@]}"; then
    cat "$log" >&2
    fail "apt could not install ${missing[*]}"
fi
