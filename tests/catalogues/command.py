"""What `manage.py makemessages` does: write what is to be translated into the catalogues.

In place of Django's own, which needs gettext's programs: messages of the code and of templates are
found by Babel, and to these come what tables are called and words that data name. What errors,
warnings and reasons say is a catalogue of its own, found by `written_sentences.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_python
from babel.messages.pofile import read_po, write_po
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.options import InlineModelAdmin
from django.db.models import Field, Model
from django.utils.translation import override
from django.utils.translation.template import templatize

from sensors_sim.faults import FAULTS
from sensors_sim.waveforms import WAVEFORMS
from smartcis.access.limits import SCOPES
from smartcis.actions.import_inventory import InventoryOutcome
from smartcis.api.schema import TITLES
from smartcis.catalog import CATALOG
from smartcis.deliveries.lifecycle import AlarmStep
from smartcis.examples import EXAMPLES
from smartcis.importers.drawing import Finding
from smartcis.importers.inventory.columns import COLUMNS
from smartcis.models.sensor_kinds import CODED
from smartcis.policies import POLICIES
from smartcis.queries import comment_of, standing_queries
from smartcis.readings.quantities import QUANTITIES
from smartcis.sentences import DOMAIN
from smartcis.wrappers.kinds import KINDS
from smartcis.wrappers.payloads.families import CHOICES
from tests.catalogues.written_sentences import sentences_written

PLURALS = ("ngettext", "ngettext_lazy")
KEYWORDS = dict.fromkeys(
    ("_", "gettext", "gettext_lazy", "gettext_noop", *PLURALS)
)  # as Babel takes them
PROJECT = Path("smartcis")
WIDTH = 100


def extracted() -> Catalog:
    """Returns all that pages say, in English."""
    found = Catalog(project="SmartCIS", charset="utf-8", fuzzy=False)
    folder = settings.BASE_DIR / PROJECT
    for path in sorted((*folder.rglob("*.py"), *folder.rglob("*.html"))):
        if "migrations" not in path.parts:
            for message in written_in(path):
                found.add(message, locations=[(str(path.relative_to(settings.BASE_DIR)), 0)])
    for message, where in (*named_by_tables(), *named_by_code()):
        found.add(message, locations=[(where, 0)])
    return found


def written() -> Catalog:
    """Returns the sentences that leave the engine in English, and are translated after that."""
    found = Catalog(project="SmartCIS", charset="utf-8", fuzzy=False)
    for sentence, where in sentences_written(settings.BASE_DIR).items():
        found.add(sentence, locations=[(where, 0)])
    return found


def written_in(path: Path) -> Iterator[Any]:
    """Returns the messages of a module or of a template: a text, or one and its plural."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        drawn = templatize(text, origin=str(path))
        text = "\n".join(line.strip() for line in drawn.splitlines())
    for _, function, messages, _ in extract_python(BytesIO(text.encode()), KEYWORDS, (), {}):
        if function in PLURALS:
            yield tuple(messages[:2])
        elif isinstance(messages, str):
            yield messages


def named_by_code() -> Iterator[tuple[str, str]]:
    """Returns words that stand in descriptions and not where they are shown, and where."""
    words: dict[str, list[str]] = {
        "sensors_sim/faults.py": [one.amount for one in FAULTS.values()],
        "sensors_sim/waveforms": [
            text
            for one in WAVEFORMS.values()
            for text in (one.label, *(field.meaning for field in one.fields.values()))
        ],
        "smartcis/access/limits.py": [
            f"too many logins in a minute from {SCOPES[one]}" for one in settings.RATES["logins"]
        ],
        "smartcis/api/schema.py": [HTTPStatus(one).phrase for one in (*TITLES, 500)],
        "smartcis/catalog.py": [one.comment for one in CATALOG],
        "smartcis/deliveries/lifecycle.py": [one.value for one in AlarmStep],
        "smartcis/actions/import_inventory.py": [*InventoryOutcome, *COLUMNS],
        "smartcis/examples.streamsql": [one.title for one in EXAMPLES],
        "smartcis/importers/drawing.py": [*Finding],
        "smartcis/models/sensor_kinds.py": [
            *(one.name for one in CODED.values()),
            *(one.name for one in QUANTITIES.values()),
        ],
        "smartcis/policies.py": [
            text for one in POLICIES.values() for text in (one.readers, one.why, one.instead)
        ],
        "smartcis/queries": [comment_of(text) for text in standing_queries().values()],
        "smartcis/wrappers": [
            text for one in KINDS for text in (one.label, *(field.meaning for field in one.fields))
        ],
        "smartcis/wrappers/payloads/families.py": [name for _, name in CHOICES],
    }
    yield from ((str(text), where) for where, texts in words.items() for text in texts if text)


def named_by_tables() -> Iterator[tuple[str, str]]:
    """Returns what `translate_tables` wrapped and pages show, each with the table that says it."""
    shown = {*admin.site._registry, *_edited_inside(InlineModelAdmin)}  # tables of the admin
    with override(None):
        for model in apps.get_app_config("smartcis").get_models():
            about = model._meta  # public despite its name
            said: list[Any] = [about.verbose_name, about.verbose_name_plural]
            if model in shown:
                fields = [one for one in about.get_fields() if isinstance(one, Field)]
                said += [text for one in fields for text in (one.verbose_name, one.help_text)]
                said += [label for one in fields for _, label in one.choices or ()]
            yield from ((str(text), about.label) for text in said if text)


def _edited_inside(kind: type[Any]) -> Iterator[type[Model]]:
    """Returns the tables that are edited on other tables' pages."""
    for one in kind.__subclasses__():
        if getattr(one, "model", None) is not None:
            yield one.model
        yield from _edited_inside(one)


def run(say: Callable[[str], object]) -> None:
    """Adds what is new, drops what nobody says any more, and names what is not translated."""
    for domain, wanted in (("django", extracted()), (DOMAIN, written())):
        for path in sorted(settings.LOCALE_PATHS[0].glob(f"*/LC_MESSAGES/{domain}.po")):
            with path.open("rb") as file:
                kept = read_po(file, locale=path.parts[-3])
            kept.update(wanted, no_fuzzy_matching=True, update_creation_date=False)
            kept.obsolete.clear()
            with path.open("wb") as file:
                write_po(file, kept, width=WIDTH, sort_output=True, include_lineno=False)
            open_ = [str(one.id) for one in kept if one.id and not one.string]
            say(f"{path}: {len(kept)} messages, {len(open_)} without translation")
