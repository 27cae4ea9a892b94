"""A driver process for tests: runs one engine until it is told to stop."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from aspen.spark.config import EngineConfig
from aspen.spark.engine import Engine

if __name__ == "__main__":
    url, name, checkpoint, *rest = json.loads(Path(sys.argv[1]).read_text())
    master, lanes = rest or ["local[2,3]", 1]
    config = EngineConfig(url, name, url, name, Path(checkpoint), master=master, lanes=lanes)
    engine = Engine(config, lambda event, **fields: sys.stderr.write(f"{event} {fields}\n"))
    signal.signal(signal.SIGTERM, lambda *_: engine.stop())
    engine.run()
