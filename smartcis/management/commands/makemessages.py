"""`manage.py makemessages`: write what is to be translated into the catalogues.

In place of Django's own, which needs gettext's programs: messages of the code and of templates are
found by Babel, and to these come what tables are called and words that data name.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_python
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils.translation.template import templatize

from smartcis.language import named_by_tables

PLURALS = ("ngettext", "ngettext_lazy")
KEYWORDS = dict.fromkeys(("_", "gettext", "gettext_lazy", *PLURALS))  # as Babel takes them
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
    for message, table in named_by_tables():
        found.add(message, locations=[(table, 0)])
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


class Command(BaseCommand):
    help = "Write what is to be translated into smartcis/locale/*/LC_MESSAGES/django.po."

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Adds what is new, drops what nobody says any more, and names what is not translated."""
        wanted = extracted()
        for path in sorted(settings.LOCALE_PATHS[0].glob("*/LC_MESSAGES/django.po")):
            with path.open("rb") as file:
                kept = read_po(file, locale=path.parts[-3])
            kept.update(wanted, no_fuzzy_matching=True, update_creation_date=False)
            kept.obsolete.clear()
            with path.open("wb") as file:
                write_po(file, kept, width=WIDTH, sort_output=True, include_lineno=False)
            open_ = [str(one.id) for one in kept if one.id and not one.string]
            self.stdout.write(f"{path}: {len(kept)} messages, {len(open_)} without translation")
