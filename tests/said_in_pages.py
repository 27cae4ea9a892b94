"""What pages say and nobody wrapped for translation: found in templates, names and catalogues."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from html.parser import HTMLParser
from typing import Any

from babel.messages.catalog import Catalog
from django.contrib.admin import AdminSite, ModelAdmin, TabularInline
from django.template.base import Lexer, TokenType
from django.utils.translation import override

from smartcis.models import Source

SPOKEN = {"alt", "aria-description", "aria-label", "label", "placeholder", "title"}
BUTTONS = {"submit", "button", "reset"}
UNSPOKEN = {"code", "script", "style"}
VOID = {"br", "hr", "img", "input", "link", "meta"}
LETTERS = re.compile(r"[^\W\d_]{2,}")
PLACEHOLDER = re.compile(r"%\(\w+\)[sdg]|%[sdg]|\{\w*\}|<[^>]+>")
LITERAL = re.compile(r"""\|(?:default|default_if_none|yesno|pluralize|add|join):["']([^"']*)""")
HELD = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands where a template puts a value or a translation."""


class Words(HTMLParser):
    """Gathers the texts and spoken attributes of a page, but code and what is marked English."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._left_out: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if tag not in VOID and (self._left_out or tag in UNSPOKEN or is_english(tag, said)):
            self._left_out.append(tag)
        if not self._left_out:
            self.found += [text for name, text in attrs if name in SPOKEN and text]
            if tag == "input" and said.get("type") in BUTTONS:
                self.found.append(said.get("value") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._left_out:
            while self._left_out.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self._left_out:
            self.found.append(data)


def is_english(tag: str, attrs: dict[str, str | None]) -> bool:
    """Returns whether an element of a page says that what it holds is English."""
    return tag != "html" and attrs.get("lang") == "en"


def words_of(page: str) -> list[str]:
    """Returns the texts and spoken attributes of a page that hold words."""
    parser = Words()
    parser.feed(page)
    parser.close()
    return [" ".join(one.split()) for one in parser.found if LETTERS.search(one)]


def unwrapped(template: str, allowed: frozenset[str] = frozenset()) -> list[str]:
    """Returns what a template says outside `translate` and `blocktranslate`."""
    page, held = [], ""
    for token in Lexer(template).tokenize():
        tag = token.contents.split()[0] if token.token_type == TokenType.BLOCK else ""
        if tag.startswith("blocktrans"):
            held = f"end{tag}"
        elif held:
            held = "" if tag == held else held
        elif token.token_type == TokenType.TEXT:
            page.append(token.contents)
        if token.token_type == TokenType.VAR or tag.startswith("trans"):
            page.append(HELD)
        if token.token_type == TokenType.VAR:
            page += [f"<p>{one}</p>" for one in LITERAL.findall(token.contents)]
    parts = (part.strip() for one in words_of("".join(page)) for part in one.split(HELD))
    return [one for one in parts if LETTERS.search(one) and one not in allowed]


def catalogue_faults(wanted: Catalog, written: Catalog) -> list[str]:
    """Returns what is missing, superfluous, doubtful or wrong in a catalogue."""
    faults = [f"missing: {one.id}" for one in wanted if one.id and written.get(one.id) is None]
    for one in written:
        if not one.id:
            continue
        ids, texts = ([part] if isinstance(part, str) else part for part in (one.id, one.string))
        if wanted.get(one.id) is None:
            faults.append(f"nobody says: {one.id}")
        if one.fuzzy:
            faults.append(f"fuzzy: {one.id}")
        if not all(texts) or len(ids) != len(texts):
            faults.append(f"not translated: {one.id}")
        elif any(held(said) != held(ids[-1]) for said in texts):
            faults.append(f"other placeholders: {one.id}")
    return faults


def held(text: str) -> list[str]:
    """Returns the placeholders and tags of a message, sorted."""
    return sorted(PLACEHOLDER.findall(text))


def fixed(site: AdminSite, request: Any, same: AbstractSet[str]) -> Iterator[str]:
    """Returns what a site says of tables and forms in both languages alike, but for some words."""
    with override("en"):
        english = [(where, str(said)) for where, said in names_of(site, request)]
    with override("de"):
        german = [str(said) for _, said in names_of(site, request)]
    for (where, said), other in zip(english, german, strict=True):
        if said == other and LETTERS.search(said) and said.casefold() not in same:
            yield f"{where}: {said}"


def names_of(site: AdminSite, request: Any) -> Iterator[tuple[str, Any]]:
    """Returns names, help texts, choices, labels, titles and actions, each with where it stands."""
    yield from (("site", said) for said in (site.site_header, site.index_title))
    for model, page in site._registry.items():
        if model._meta.app_label != "smartcis":
            continue
        about = model._meta
        yield f"{about.label}", about.verbose_name
        yield f"{about.label} (many)", about.verbose_name_plural
        for field in about.fields:
            where = f"{about.label}.{field.name}"
            yield where, field.verbose_name
            yield f"{where} (help)", field.help_text
            yield from ((f"{where} (choice)", said) for _, said in field.flatchoices)
        yield from page_names(about.label, page, request)
    for kind in (one for one in TabularInline.__subclasses__() if one.model is not None):
        inline = kind(Source, site)
        yield f"{kind.__name__} (many)", inline.verbose_name_plural or ""
        if inline.has_add_permission(request, None):
            yield from form_names(inline.get_formset(request).form, kind.__name__)


def page_names(where: str, page: ModelAdmin[Any], request: Any) -> Iterator[tuple[str, Any]]:
    """Returns what a page of the admin says of its columns, forms, parts and actions."""
    for column in (*page.list_display, *page.readonly_fields):
        called = column if callable(column) else getattr(page, str(column), None)
        if called is not None and column != "__str__":
            yield f"{where} (column {column})", getattr(called, "short_description", str(column))
    for one in page.list_filter:
        if isinstance(one, type):
            yield f"{where} (filter)", one.title
    for title, _ in page.get_fieldsets(request):
        yield f"{where} (part)", title or ""
    for name in page.actions or ():
        yield f"{where} (action)", getattr(getattr(page, str(name)), "short_description", name)
    yield f"{where} (plan)", getattr(page, "on_plan_said", "")
    form = page.get_form(request, change=not page.has_add_permission(request))
    yield from form_names(form, where)


def form_names(form: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Returns a form's labels and help texts."""
    for name, field in form().fields.items():
        yield f"{where} ({name})", name.replace("_", " ") if field.label is None else field.label
        yield f"{where} ({name}, help)", field.help_text
