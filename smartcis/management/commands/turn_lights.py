"""Turn the simulated lights: `manage.py turn_lights 800 --share 0.5`.

With a query over bright rooms running, this is the scenario in which its selectivity crosses over
and it leaves the sensor network, or returns: see `smartcis/placements/README.md`.
"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from aspen.errors import AspenError
from smartcis.access.owner import SYSTEM
from smartcis.actions.turn_lights import turn_lights


class Command(BaseCommand):
    help = "Set how bright the simulated light sensors see it from now on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("lux", type=float, help="e.g. 10 for lights off, 800 for lights on")
        parser.add_argument("--share", type=float, default=1.0, help="part of the sensors, 0 to 1")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            turned = turn_lights(options["lux"], SYSTEM, share=options["share"])
        except AspenError as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"{turned} light sensors see {options['lux']:g} lx")
