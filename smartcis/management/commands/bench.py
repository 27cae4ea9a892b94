"""`manage.py bench NAME --json [--quick]`: measure, and print one JSON object."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from smartcis.bench import (
    federation,
    latency,
    motes,
    recovery,
    scale,
    seeds,
    slope,
    strategies,
    tenants,
)
from smartcis.bench.peers import bench as peers

BENCHES = {
    "federation": federation.run,
    "latency": latency.run,
    "motes": motes.run,
    "peers": peers.run,
    "recovery": recovery.run,
    "scale": scale.run,
    "seeds": seeds.run,
    "slope": slope.run,
    "strategies": strategies.run,
    "tenants": tenants.run,
}


class Command(BaseCommand):
    help = "Measure one thing side by side in one run. Exits 0 even when a target is missed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", choices=sorted(BENCHES))
        parser.add_argument("--json", action="store_true", help="print one JSON object only")
        parser.add_argument("--quick", action="store_true", help="same shape, under a minute")
        parser.add_argument(
            "--figure", choices=(*seeds.FIGURES, *scale.PARTS), help="of seeds, scale: only this"
        )
        parser.add_argument("--draw", type=Path, metavar="DIR", help="of seeds: write SVGs there")

    def handle(self, *_args: Any, **options: Any) -> None:
        quiet = options["json"]
        which = {"figure": options["figure"]} if options["figure"] else {}
        if options["draw"]:
            which["draw_to"] = options["draw"]
        result = BENCHES[options["name"]](
            **which,
            quick=options["quick"],
            say=(lambda _line: None) if quiet else self.stderr.write,
        )
        if quiet:
            self.stdout.write(json.dumps(result, indent=2, ensure_ascii=False))
            return
        for target in result["targets"]:
            mark = "met " if target["met"] else "MISS"
            sign = "≤" if target["at_most"] else "≥"
            self.stdout.write(
                f"{mark} {target['name']}: {target['value']} {target['unit']} "
                f"({sign} {target['target']})"
            )
        self.stdout.write(json.dumps(result["figures"], indent=2, ensure_ascii=False))
