#!/usr/bin/env bash
# Tests the README's two commands on a bare system, as a user runs them after cloning the repository. It makes the system,
# clones the last commit of this repository into it, and runs ./demo.sh and ./test.sh there as an ordinary user with sudo.
#   scripts/fresh.sh trixie              a Debian suite, made by debootstrap; needs root
#   scripts/fresh.sh ubuntu:24.04        a docker image
# Options, before the name:
#   --all             run ./test.sh --all instead of ./test.sh
#   --run COMMAND     run this command in the clone instead of both
#   --keep FOLDER     keep the suite's system in FOLDER, and use it again in the next run. Its packages and its compiler cache
#                     stay; the clone is made again. The times of such a run are not those of a newcomer.
#   --cuda            make this machine's /usr/local/cuda available in the system
# `sudo FRESH_MIRROR=URL scripts/fresh.sh trixie` uses another mirror for the suite. Proxies come from the environment, so sudo
# needs `--preserve-env=http_proxy,https_proxy`.
# The commands' output goes to stdout. The last lines are a table of the system, its tools, results and seconds.
set -euo pipefail

fail() {
    echo "fresh.sh: $1" >&2
    exit "${2:-1}"
}
usage() { fail "usage: scripts/fresh.sh [--all] [--run COMMAND] [--keep FOLDER] [--cuda] SUITE | IMAGE:TAG" 2; }

tests=./test.sh command='' keep='' cuda=false
while (($# > 0)); do
    case "$1" in
        --all) tests='./test.sh --all' ;;
        --run | --keep)
            (($# > 1)) || usage
            if [[ $1 == --run ]]; then command=$2; else keep=$2; fi
            shift
            ;;
        --cuda) cuda=true ;;
        -*) usage ;;
        *) break ;;
    esac
    shift
done
(($# == 1)) || usage
[[ -z $command || $tests == ./test.sh ]] || usage
name=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if $cuda && [[ ! -d /usr/local/cuda ]]; then fail "--cuda: there is no /usr/local/cuda on this machine"; fi
[[ -z $(git -C "$root" status --porcelain) ]] || echo "fresh.sh: uncommitted changes are not tested" >&2

work=$(mktemp -d /var/tmp/cornerturn-fresh-XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT
chmod 755 "$work"  # the user in the system reads it
git clone -q "$root" "$work/cornerturn"

# Runs in the system, as root. It makes a user with sudo, who has the clone in the home folder.
cat > "$work/in_system.sh" << 'END'
set -eu
. /fresh/settings.sh
export DEBIAN_FRONTEND=noninteractive
# The lists of a mirror that is no longer updated expire.
{
    echo 'Acquire::Check-Valid-Until "false";'
    if [ -n "${http_proxy:-}" ]; then echo "Acquire::http::Proxy \"$http_proxy\";"; fi
    if [ -n "${https_proxy:-}" ]; then echo "Acquire::https::Proxy \"$https_proxy\";"; fi
} > /etc/apt/apt.conf.d/90fresh
if ! command -v sudo > /dev/null; then
    apt-get -qq update
    apt-get -qq install -y --no-install-recommends sudo > /dev/null
fi
id newcomer > /dev/null 2>&1 || useradd -m -s /bin/bash newcomer
echo 'newcomer ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/newcomer
rm -rf /home/newcomer/cornerturn
cp -r /fresh/cornerturn /home/newcomer/
chown -R newcomer: /home/newcomer
exec su newcomer -s /bin/bash -c 'cd ~/cornerturn && exec bash /fresh/as_user.sh'
END
cat > "$work/as_user.sh" << 'END'
set -u
. /fresh/settings.sh
results=() failed=0
for command in "${commands[@]}"; do
    begin=$SECONDS status=0
    echo "== $command"
    bash -c "$command" < /dev/null || status=$?
    ((status == 0)) || failed=1
    results+=("\`$command\`: exit $status, $((SECONDS - begin)) s")
done
version() {
    local found
    found=$("$@" 2> /dev/null | grep -oE '[0-9]+\.[0-9.]*[0-9]' | head -n 1)
    echo "${found:-none}"
}
. /etc/os-release
printf '\n| system | processor, cores | g++ | CMake | Python | results |\n|---|---|---|---|---|---|\n'
printf '| %s | %s, %s | %s | %s | %s |' "$PRETTY_NAME" "$(uname -m)" "$(nproc)" "$(version g++ -dumpfullversion)" \
    "$(version cmake --version)" "$(version python3 --version)"
for each in "${results[@]}"; do printf ' %s;' "$each"; done
printf ' |\n'
exit $failed
END
if [[ -n $command ]]; then commands=("$command"); else commands=(./demo.sh "$tests"); fi
# chroot's env and sudo drop the environment, so a file holds the variables that the commands need. A proxy may use its own
# certificates, so this machine's certificates are copied.
{
    declare -p commands
    for variable in {http,https,no}_proxy {HTTP,HTTPS,NO}_PROXY; do
        if [[ -n ${!variable:-} ]]; then printf 'export %s=%q\n' "$variable" "${!variable}"; fi
    done
    if cp /etc/ssl/certs/ca-certificates.crt "$work/certificates.crt" 2> /dev/null; then
        echo 'export PIP_CERT=/fresh/certificates.crt'
    fi
} > "$work/settings.sh"

if [[ $name == *:* ]]; then
    docker info > /dev/null 2>&1 || fail "$name is a docker image, but docker does not run on this machine; name a Debian suite"
    [[ -z $keep ]] || fail "--keep is for suites: docker keeps images itself" 2
    mounts=(-v "$work:/fresh:ro")
    ! $cuda || mounts+=(-v /usr/local/cuda:/usr/local/cuda:ro)
    docker run --rm "${mounts[@]}" "$name" bash /fresh/in_system.sh
    exit
fi

((EUID == 0)) || fail "debootstrap needs root: run it with sudo"
command -v debootstrap > /dev/null || fail "debootstrap is not installed: apt install debootstrap"
system=${keep:-$work/system}
# The namespace of mounts and processes always ends with this script.
in_namespace() { setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc "$@"; }
if [[ ! -d $system || -z $(ls -A "$system") ]]; then
    # An older debootstrap has no script for later suites. The script for sid makes them.
    script=()
    [[ -e /usr/share/debootstrap/scripts/$name ]] || script=(/usr/share/debootstrap/scripts/sid)
    mkdir -p "$system"
    in_namespace debootstrap --variant=minbase "$name" "$system" "${FRESH_MIRROR:-http://deb.debian.org/debian}" "${script[@]}" \
        > "$work/debootstrap.log" 2>&1 || { tail -n 20 "$work/debootstrap.log" >&2; fail "debootstrap could not make $name"; }
    echo "$name" > "$system/etc/fresh-suite"
elif [[ $(cat "$system/etc/fresh-suite" 2> /dev/null) != "$name" ]]; then
    fail "$keep is not a complete system of $name: remove it, or name another folder"
fi
cp -L --remove-destination /etc/resolv.conf "$system/etc/resolv.conf"
rm -f "$system/etc/hosts"
echo "127.0.0.1 localhost $(hostname)" > "$system/etc/hosts"
mkdir -p "$system/fresh"
if $cuda; then mkdir -p "$system/usr/local/cuda"; fi
in_namespace bash -euc '
    system=$1 work=$2 cuda=$3
    mount --bind "$work" "$system/fresh"
    mount -t proc proc "$system/proc"
    mount --rbind /sys "$system/sys"
    mount --rbind /dev "$system/dev"
    if $cuda; then mount -o bind,ro "$(readlink -f /usr/local/cuda)" "$system/usr/local/cuda"; fi
    exec chroot "$system" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        LANG=C.UTF-8 bash /fresh/in_system.sh' bash "$system" "$work" "$cuda"
