#!/usr/bin/env bash
# Follows README on a bare Debian: debootstrap, the packages README names, a clone, `make demo`,
# the map. Prints each step with its seconds; root, 6 GB of disk, port 8000.
#
#   docker/bare-debian.sh FOLDER            FOLDER is made, and removed at the end
#   docker/bare-debian.sh FOLDER --keep     … and kept
set -euo pipefail
root=${1:?a folder that does not exist yet}
release=${RELEASE:-bookworm}
say() { printf '%4ds  %s\n' "$SECONDS" "$*"; }

[ ! -e "$root" ] || { echo "$root is there already" >&2; exit 1; }
mkdir -p "$root"
root=$(cd "$root" && pwd)
tidy() {
  # unshare hears nothing else, and all inside end with it.
  [ -z "${demo:-}" ] || { kill -KILL "$demo" && wait "$demo"; } 2>/dev/null || true
  [ "${2:-}" = --keep ] || rm -rf --one-file-system "$root"
}
trap 'tidy "$@"' EXIT

say "debootstrap $release"
debootstrap --variant=minbase "$release" "$root" >/dev/null
# How this machine reaches the registries it is configured for, and nothing else of it.
for file in /etc/resolv.conf /etc/pip.conf /root/.npmrc; do
  [ ! -e "$file" ] || install -D -m 644 "$file" "$root$file"
done
trusted=/etc/ssl/registries.crt # where Debian's own bundle does not replace it
install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$root$trusted"
registries=$(env | grep -iE '^(https?|no)_proxy=' || true)
for name in SSL_CERT_FILE PIP_CERT NODE_EXTRA_CA_CERTS npm_config_cafile; do registries+=" $name=$trusted"; done

# As on a machine of its own: its own processes, /proc and /dev, the same network.
# shellcheck disable=SC2206 # one word a variable
inside=(env -i $registries PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
  unshare --mount --pid --fork --kill-child bash -c '
    root=$1; shift
    mount -t proc proc "$root/proc"
    mount -t tmpfs tmpfs "$root/dev/shm" 2>/dev/null || true
    exec chroot "$root" bash -c "$*"' inside "$root")

say "apt-get install git make python3 python3-venv"
"${inside[@]}" 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends git make python3 python3-venv >/dev/null 2>&1'
say "git clone"
git clone -q "$(git rev-parse --show-toplevel)" "$root/root/smartcis"
say "make demo"
"${inside[@]}" 'cd /root/smartcis && exec make demo' > >(sed -u 's/^/       | /') 2>&1 &
demo=$!
ask() { python3 -c 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=10).read().decode())' "http://127.0.0.1:8000$1"; }
until ask /readyz 2>/dev/null; do
  kill -0 "$demo" 2>/dev/null || { echo "make demo ended" >&2; exit 1; }
  sleep 2
done
say "ready; the map's page:"
ask / | grep -o '<title>.*</title>'
say "disk: $(du -sh --one-file-system "$root" | cut -f1)"
