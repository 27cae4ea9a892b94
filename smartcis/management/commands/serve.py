"""Run the product for others to reach: `manage.py serve`."""

from __future__ import annotations

from argparse import ArgumentParser

from smartcis.api.building import IMPORT_ONE
from smartcis.checks import production_faults
from smartcis.management.commands.demo import Command as Demo
from smartcis.models import Building
from smartcis.services.product import Product


class Command(Demo):
    help = (
        "Start the product on 127.0.0.1, behind a server that speaks TLS; nothing is simulated, "
        "and a set-up that is unsafe where others reach it is refused."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="of the web server")
        parser.set_defaults(no_simulator=True)

    def faults(self, port: int) -> list[str]:
        return [*production_faults(), *super().faults(port)]

    def fill(self, product: Product) -> None:
        if not Building.objects.exists():
            product.steps.say(f"there is no building yet; {IMPORT_ONE}")
        product.steps.say("staff accounts: manage.py staff_account, manage.py createsuperuser")
