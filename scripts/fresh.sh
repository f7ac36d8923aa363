#!/usr/bin/env bash
# Tries the README's two commands on a bare system, as a user would who has just cloned the repository: makes the system,
# clones this repository's last commit into it, and runs ./demo.sh and ./test.sh there as an ordinary user with sudo.
#   scripts/fresh.sh trixie              a Debian suite, made by debootstrap; needs root
#   scripts/fresh.sh ubuntu:24.04        an image, where docker answers
# Options, before the name:
#   --all             ./test.sh --all in place of ./test.sh
#   --run COMMAND     this command in place of both, in the clone
#   --keep FOLDER     keep the suite's system there, and take it from there the next time: its packages and its compiler
#                     cache stay, the clone is made anew. What such a run takes is no measure of a newcomer's time.
#   --cuda            with this machine's /usr/local/cuda in the system
# `sudo FRESH_MIRROR=URL scripts/fresh.sh trixie` takes the suite from another mirror. Proxies are taken from the environment:
# sudo needs `--preserve-env=http_proxy,https_proxy` for that.
# What the commands print goes to stdout; the last lines are a table of the system, its tools, results and seconds.
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
[[ -z $(git -C "$root" status --porcelain) ]] || echo "fresh.sh: what is not committed is not tried" >&2

work=$(mktemp -d /var/tmp/cornerturn-fresh-XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT
chmod 755 "$work"  # the user in the system reads it
git clone -q "$root" "$work/cornerturn"

# What runs in the system, as root: a user with sudo, who has the clone in the home folder.
cat > "$work/in_system.sh" << 'END'
set -eu
. /fresh/settings.sh
export DEBIAN_FRONTEND=noninteractive
# A mirror may stand still, and its lists run out.
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
# chroot's env and sudo drop the environment. So what the commands need of it is in a file. A proxy between here and the
# packages has certificates of its own, which this machine knows.
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
    docker info > /dev/null 2>&1 || fail "$name is an image, and no docker answers on this machine; name a Debian suite"
    [[ -z $keep ]] || fail "--keep is for suites: docker keeps images itself" 2
    mounts=(-v "$work:/fresh:ro")
    ! $cuda || mounts+=(-v /usr/local/cuda:/usr/local/cuda:ro)
    docker run --rm "${mounts[@]}" "$name" bash /fresh/in_system.sh
    exit
fi

((EUID == 0)) || fail "debootstrap needs root: run it with sudo"
command -v debootstrap > /dev/null || fail "there is no debootstrap on this machine: apt install debootstrap"
system=${keep:-$work/system}
# A namespace of mounts and processes ends with this script, however that ends.
in_namespace() { setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc "$@"; }
if [[ ! -d $system || -z $(ls -A "$system") ]]; then
    # An older debootstrap does not know the names of later suites, which are made as unstable is.
    script=()
    [[ -e /usr/share/debootstrap/scripts/$name ]] || script=(/usr/share/debootstrap/scripts/sid)
    mkdir -p "$system"
    in_namespace debootstrap --variant=minbase "$name" "$system" "${FRESH_MIRROR:-http://deb.debian.org/debian}" "${script[@]}" \
        > "$work/debootstrap.log" 2>&1 || { tail -n 20 "$work/debootstrap.log" >&2; fail "debootstrap could not make $name"; }
    echo "$name" > "$system/etc/fresh-suite"
elif [[ $(cat "$system/etc/fresh-suite" 2> /dev/null) != "$name" ]]; then
    fail "$keep holds something else than a whole system of $name: remove it, or name another folder"
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
