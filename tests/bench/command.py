"""What `manage.py bench` does: choose a bench, run it, print what it found."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.bench import (
    against,
    buildings,
    chaos,
    crowd,
    federation,
    first_picture,
    latency,
    motes,
    news,
    offences,
    offenders,
    orders,
    page,
    recovery,
    scale,
    seeds,
    slope,
    soak,
    strategies,
    tenants,
)
from tests.bench.peers import bench as peers
from tests.bench.peers import product
from tests.fuzz import campaign

BENCHES: Mapping[str, Callable[..., dict[str, Any]]] = {
    "buildings": buildings.run,
    "chaos": chaos.run,
    "crowd": crowd.run,
    "federation": federation.run,
    "first_picture": first_picture.run,
    "fuzz": campaign.run,
    "latency": latency.run,
    "motes": motes.run,
    "news": news.run,
    "offenders": offenders.run,
    "orders": orders.run,
    "page": page.run,
    "peers": peers.run,
    "product": product.run,
    "recovery": recovery.run,
    "scale": scale.run,
    "seeds": seeds.run,
    "slope": slope.run,
    "soak": soak.run,
    "strategies": strategies.run,
    "tenants": tenants.run,
}


def add_arguments(parser: ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("name", choices=sorted(BENCHES))
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    parser.add_argument("--quick", action="store_true", help="same shape, under a minute")
    figures = (*seeds.FIGURES, *scale.PARTS, *offences.OFFENCES, *campaign.SHARES)
    help_ = "of seeds, scale, offenders, fuzz: only this"
    parser.add_argument("--figure", choices=figures, help=help_)
    parser.add_argument("--draw", type=Path, metavar="DIR", help="of seeds: write SVGs there")
    parser.add_argument("--minutes", type=float, help="of chaos, crowd, page, soak: how long")
    parser.add_argument("--inputs", type=int, help="of fuzz: how many, of all doors or of one")
    parser.add_argument("--seed", type=int, help="of chaos, fuzz: repeats what is drawn")
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
        which = {
            name: options[name]
            for name in ("figure", "inputs", "minutes", "seed")
            if options.get(name) is not None
        }
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
