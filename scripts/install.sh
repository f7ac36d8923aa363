#!/usr/bin/env bash
# Installs the missing Debian or Ubuntu packages that cornerturn needs.
#   scripts/install.sh            to build and run the program
#   scripts/install.sh --tests    also to run the tests, and to build the `device` preset
#   scripts/install.sh --all      also to run the long tests
set -euo pipefail

packages=(g++ cmake make ninja-build git
          libcli11-dev libfmt-dev nlohmann-json3-dev libboost-context-dev libdw-dev libelf-dev
          libtbb-dev libhwy-dev)
# The last two draw the documents' pictures. A static libdw needs the three packages before them. On Ubuntu it also needs zstd,
# which libelf-dev installs.
test_packages=(libgtest-dev libgmock-dev python3 python3-dev python3-venv python3-numpy pkgconf ccache
               liblzma-dev libbz2-dev zlib1g-dev librsvg2-bin python3-cairosvg)

# Installed only if the system has it. Newer systems have only other versions, which format differently, so test.sh does not
# check the formatting there.
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

[[ $(uname -s) == Linux ]] || fail "cornerturn needs Linux, but this is $(uname -s); you can use a container with Debian 12 or Ubuntu 24.04"
[[ $(uname -m) == x86_64 ]] ||
    fail "the program needs an x86-64 processor, but this is $(uname -m): docs/using.md says how to build only the libraries"
command -v apt-get > /dev/null ||
    fail "apt is not installed; cornerturn needs glibc and these packages, under their Debian names: ${packages[*]}"

# dpkg-query fails if it does not know a package. Packages that it knows may have been removed.
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
# Checks the compiler that this system has or would install. If the user names a compiler, CMake checks it.
refuse_old_compiler() {
    local version
    version=$(g++ -dumpversion 2> /dev/null || LC_ALL=C apt-cache policy g++ | sed -n 's/.*Candidate: \([0-9]*:\)\?//p')
    version=${version%%.*}
    if [[ -z ${CXX:-} && $version =~ ^[0-9]+$ ]] && ((version < 12)); then
        fail "cornerturn needs g++ 12 or later, but this system has g++ $version; Debian 12, Ubuntu 24.04 and later have it"
    fi
}
refuse_old_compiler
find_missing
if ((${#missing[@]} == 0)); then exit 0; fi

as_root=()
if ((EUID != 0)); then
    command -v sudo > /dev/null || fail "sudo is not installed: run this as root to install ${missing[*]}"
    as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A machine that has just started may still install its own upgrades, so wait for them.
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=300 "$@" > "$log" 2>&1 < /dev/null
}

# An unreachable source is no reason to stop, because the packages may come from others. Their installation reports errors.
apt update || cat "$log" >&2
refuse_old_compiler
find_missing
echo "Installing ${missing[*]}"
if ! apt install --no-install-recommends "${missing[@]}"; then
    cat "$log" >&2
    fail "apt could not install ${missing[*]}"
fi
