"""The client alone: what importing it brings along."""

from __future__ import annotations

import json
import subprocess
import sys

SERVER = ("django", "rest_framework", "channels", "celery", "redis", "pyspark", "pandas", "pyarrow")
SHOW = "import json, sys; print(json.dumps(sorted(sys.modules)))"


def test_a_fresh_interpreter_loads_neither_server_nor_spark():
    code = f"import smartcis.client, smartcis.client.command_line; {SHOW}"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = json.loads(done.stdout)
    packages = {name.partition(".")[0] for name in loaded}
    assert packages & {*SERVER, "aspen", "federation", "sensors_sim"} == set()
    own = {".".join(name.split(".")[:2]) for name in loaded if name.startswith("smartcis")}
    assert own == {"smartcis", "smartcis.client"}
