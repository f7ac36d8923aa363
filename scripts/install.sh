#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that cornerturn needs, those that are missing alone.
#   scripts/install.sh            to build and run the program
#   scripts/install.sh --tests    to run the tests too, and to build the `device` preset
#   scripts/install.sh --all      and the long ones
set -euo pipefail

packages=(g++ cmake make ninja-build git
          libcli11-dev libfmt-dev nlohmann-json3-dev libboost-context-dev libdw-dev libelf-dev
          libtbb-dev libhwy-dev)
# The last two draw the documents' pictures. The three before are what a static libdw needs: on Ubuntu it needs zstd too,
# which libelf-dev brings there.
test_packages=(libgtest-dev libgmock-dev python3 python3-dev python3-venv python3-numpy pkgconf ccache
               liblzma-dev libbz2-dev zlib1g-dev librsvg2-bin python3-cairosvg)

# Newer systems have other versions alone, which format differently: there test.sh leaves the formatting unchecked.
where_known=()

fail() {
    echo "install.sh: $1" >&2
    exit "${2:-1}"
}

case "$*" in
    '') ;;
    --tests | --all)
        packages+=("${test_packages[@]}")
        where_known=(clang-format-14)
        if [[ $1 == --all ]]; then packages+=(clang chromium libeigen3-dev doxygen); fi
        ;;
    *) fail "usage: scripts/install.sh [--tests | --all]" 2 ;;
esac

[[ $(uname -s) == Linux ]] || fail "cornerturn needs Linux, and this is $(uname -s); a container with Debian 12 or Ubuntu 24.04 would do"
[[ $(uname -m) == x86_64 ]] ||
    fail "the program needs an x86-64 processor, and this is $(uname -m): docs/using.md says how to build the libraries alone"
command -v apt-get > /dev/null ||
    fail "there is no apt on this machine; cornerturn needs glibc and, under Debian's names: ${packages[*]}"

# dpkg-query fails where it does not know a package; those that it knows may have been removed.
installed=" $(dpkg-query -W -f '${Package}=${db:Status-Status} ' "${packages[@]}" "${where_known[@]}" 2> /dev/null || true)"
find_missing() {
    local package
    missing=()
    for package in "${packages[@]}"; do
        [[ $installed == *" $package=installed "* ]] || missing+=("$package")
    done
    for package in "${where_known[@]}"; do
        [[ $installed == *" $package=installed "* ]] || ! apt-cache show "$package" > /dev/null 2>&1 || missing+=("$package")
    done
}
# Of the compiler that this system has, or would install. One that the user names is CMake's to judge.
refuse_old_compiler() {
    local version
    version=$(g++ -dumpversion 2> /dev/null || LC_ALL=C apt-cache policy g++ | sed -n 's/.*Candidate: \([0-9]*:\)\?//p')
    version=${version%%.*}
    if [[ -z ${CXX:-} && $version =~ ^[0-9]+$ ]] && ((version < 12)); then
        fail "cornerturn needs g++ 12 or later, and this system has g++ $version: Debian 12, Ubuntu 24.04 and later have it"
    fi
}
refuse_old_compiler
find_missing
if ((${#missing[@]} == 0)); then exit 0; fi

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

# One unreachable source among several is no reason to stop: whether the packages can be had, their installation tells.
apt update || cat "$log" >&2
refuse_old_compiler
find_missing
echo "Installing ${missing[*]}"
if ! apt install --no-install-recommends "${missing[@]}"; then
    cat "$log" >&2
    fail "apt could not install ${missing[*]}"
fi
