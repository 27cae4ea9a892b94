#!/usr/bin/env bash
# Runs a command against a PostgreSQL server of its own, thrown away afterwards.
#
#   docker/with-postgres.sh pytest tests/ingest
#
# DATABASE_URL points the command at the server: a free port on 127.0.0.1, data in a temporary folder.
set -euo pipefail
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -x "$bin/initdb" ] || { echo "PostgreSQL's server is missing: sudo apt-get install postgresql" >&2; exit 1; }
folder=$(mktemp -d)
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

# PostgreSQL refuses to run as root.
as_server() {
  if [ "$(id -u)" = 0 ]; then su postgres -s /bin/bash -c "cd '$folder' && $*"; else bash -c "cd '$folder' && $*"; fi
}
stop() {
  as_server "'$bin/pg_ctl' -D data -m immediate -w stop" >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap stop EXIT
[ "$(id -u)" = 0 ] && chown postgres "$folder"
as_server "'$bin/initdb' -D data -A trust -U smartcis -E UTF8 --locale=C.UTF-8" >/dev/null
# Nothing here outlives the run, so nothing needs to reach the disk.
as_server "'$bin/pg_ctl' -D data -l log -w start \
  -o '-p $port -k $folder -c listen_addresses=127.0.0.1 \
     -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c autovacuum=off'" >/dev/null
DATABASE_URL="postgres://smartcis@127.0.0.1:$port/postgres" "$@"
