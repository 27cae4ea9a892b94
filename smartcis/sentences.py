"""What the code says of errors, warnings and reasons, in the language of who asks.

The engine knows no languages: its errors are English sentences, in the log, in Redis and in the
result store. Here, where they leave the product, a sentence is held against the templates of all
that the code can say (found by `tests/catalogues/written_sentences.py`), the one with the most
words of its own first, and what it was filled with is filled into the template's translation:

    there is no column {written}   ←  there is no column 'mids'
    es gibt keine Spalte {written} →  es gibt keine Spalte 'mids'

A number with its thousands apart, which only the code writes so, is written as the language does.

Law:    a sentence that fits no template is left as it is.
Ends:   a template is a few literals, looked for one behind the other; a text goes by each once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from string import Formatter
from typing import Any

from babel.messages.mofile import read_mo
from babel.numbers import format_decimal
from django.conf import settings
from django.utils.translation import get_language

DOMAIN = "engine"
LONGEST = 10_000
DEEPEST = 3  # sentences in sentences: an error says why in another one's words
HELD = 2_000
_GROUPED = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class SentenceTemplate:
    """A sentence with placeholders, and how another language says it.

    Args:
        literals: what stands around the placeholders, in order; one more than there are names.
        names: of the placeholders.
        said: the translation, with placeholders of the same names.
    """

    literals: tuple[str, ...]
    names: tuple[str, ...]
    said: str

    @classmethod
    def of(cls, written: str, said: str) -> SentenceTemplate:
        """Reads a template."""
        literals, names = [""], list[str]()
        for literal, name, _, _ in Formatter().parse(written):
            literals[-1] += literal
            if name is not None:
                names.append(name)
                literals.append("")
        return cls(tuple(literals), tuple(names), said)

    @property
    def own(self) -> int:
        """How much of it is its own."""
        return sum(map(len, self.literals))

    def filled(self, sentence: str) -> dict[str, str] | None:
        """Returns what a sentence has in place of the placeholders, None where it is another."""
        first, *between, last = self.literals
        at, end = len(first), len(sentence) - len(last)
        if at > end or not (sentence.startswith(first) and sentence.endswith(last)):
            return None
        values = []
        for literal in between:
            found = sentence.find(literal, at, end)
            if found < 0:
                return None
            values.append(sentence[at:found])
            at = found + len(literal)
        return dict(zip(self.names, [*values, sentence[at:end]], strict=True))


class Sentences:
    """All that the code says, in one language.

    Args:
        texts: the translation of each template.
        language: how numbers are written.
    """

    def __init__(self, texts: Mapping[str, str], language: str) -> None:
        self._language = language
        templates = [SentenceTemplate.of(written, said) for written, said in texts.items()]
        self._whole = {one.literals[0]: one.said for one in templates if not one.names}
        self._parted = sorted((one for one in templates if one.names), key=lambda one: -one.own)

    def translated(self, sentence: str, depth: int = 0) -> str:
        """Returns a sentence in this language; one that fits no template as it is."""
        whole = self._whole.get(sentence)
        if whole is not None:
            return whole.format()
        if depth and _GROUPED.fullmatch(sentence):
            number = Decimal(sentence.replace(",", ""))
            return format_decimal(number, locale=self._language, decimal_quantization=False)
        if depth >= DEEPEST or " " not in sentence or len(sentence) > LONGEST:
            return sentence
        for one in self._parted:
            values = one.filled(sentence)
            if values is not None:
                inner = {name: self.translated(text, depth + 1) for name, text in values.items()}
                return one.said.format(**inner)
        return sentence


@lru_cache(maxsize=1)
def _sentences(language: str) -> Sentences | None:
    """Returns what the catalogue of a language has; None where there is none."""
    path = Path(settings.LOCALE_PATHS[0]) / language / "LC_MESSAGES" / f"{DOMAIN}.mo"
    if not path.exists():
        return None
    with path.open("rb") as file:
        texts = {str(one.id): str(one.string) for one in read_mo(file) if one.id}
    return Sentences(texts, language)


@lru_cache(maxsize=HELD)
def _translated(sentence: str, language: str) -> str:
    known = _sentences(language)
    return sentence if known is None else known.translated(sentence)


def translated(sentence: str, language: str | None = None) -> str:
    """Returns a sentence of the code in a language, the one that is active unless it is named."""
    language = language or get_language() or settings.LANGUAGE_CODE
    return sentence if language == settings.LANGUAGE_CODE else _translated(sentence, language)


def in_words(error: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of an error, those that are sentences in the language that is active."""
    said = {name: translated(error[name]) for name in ("message", "found", "try")}
    return {**error, **said, "exists": [translated(one) for one in error["exists"]]}
