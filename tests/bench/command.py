"""What `manage.py bench` does: choose a bench, run it, print what it found."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.bench import (
    against,
    federation,
    latency,
    motes,
    orders,
    recovery,
    scale,
    seeds,
    slope,
    strategies,
    tenants,
)
from tests.bench.peers import bench as peers

BENCHES: Mapping[str, Callable[..., dict[str, Any]]] = {
    "federation": federation.run,
    "latency": latency.run,
    "motes": motes.run,
    "orders": orders.run,
    "peers": peers.run,
    "recovery": recovery.run,
    "scale": scale.run,
    "seeds": seeds.run,
    "slope": slope.run,
    "strategies": strategies.run,
    "tenants": tenants.run,
}


def add_arguments(parser: ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("name", choices=sorted(BENCHES))
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    parser.add_argument("--quick", action="store_true", help="same shape, under a minute")
    parser.add_argument(
        "--figure", choices=(*seeds.FIGURES, *scale.PARTS), help="of seeds, scale: only this"
    )
    parser.add_argument("--draw", type=Path, metavar="DIR", help="of seeds: write SVGs there")
    parser.add_argument("--against", metavar="REV", help="side by side with another git revision")
    parser.add_argument("--rounds", type=int, default=against.ROUNDS, help="of --against")


def run(options: Mapping[str, Any], say: Callable[[str], Any]) -> str:
    """Runs a bench; returns what the command prints.

    Args:
        say: receives a line of progress, unless JSON alone is wanted.
    """
    silent = options["json"]
    heard = (lambda _line: None) if silent else say
    if options["against"]:
        result = against.run(
            options["name"],
            options["against"],
            rounds=options["rounds"],
            quick=options["quick"],
            say=heard,
        )
    else:
        which = {"figure": options["figure"]} if options["figure"] else {}
        if options["draw"]:
            which["draw_to"] = options["draw"]
        result = BENCHES[options["name"]](**which, quick=options["quick"], say=heard)
    if silent:
        return json.dumps(result, indent=2, ensure_ascii=False)
    if options["against"]:
        return "\n".join(against.lines(result["figures"]))
    lines = [
        f"{'met ' if target['met'] else 'MISS'} {target['name']}: {target['value']} "
        f"{target['unit']} ({'≤' if target['at_most'] else '≥'} {target['target']})"
        for target in result["targets"]
    ]
    return "\n".join([*lines, json.dumps(result["figures"], indent=2, ensure_ascii=False)])
