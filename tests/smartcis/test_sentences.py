"""All that the code says of errors and reasons is said in German, and keeps what was filled in."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
import said_in_pages as said
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from smartcis.sentences import LONGEST, Sentences, SentenceTemplate, in_words, translated
from tests.catalogues.command import written
from tests.catalogues.written_sentences import says_something, sentences_written

PRINTED = re.compile(r"^(?:aspen|smartcis|federation)\.[\w.]+: (.*)|^  try: +(.*)", re.MULTILINE)
EXAMPLES = {
    "ALARM KEY (rid) RAISE WHEN …",
    "distance(x1, y1, x2, y2)",
    "head(X, Y) :- body(X, Z), other(Z, Y), Z < 10.",
}
"""The same in every language."""


def german() -> Catalog:
    with Path("smartcis/locale/de/LC_MESSAGES/engine.po").open("rb") as file:
        return read_po(file, locale="de")


TEXTS = {str(one.id): str(one.string) for one in german() if one.id}
SENTENCES = Sentences(TEXTS, "de")
TEMPLATES = [one for one in (SentenceTemplate.of(*pair) for pair in TEXTS.items()) if one.names]
OWN = {letter for text in TEXTS for letter in text}
FOREIGN = st.text(st.characters(exclude_characters=OWN, exclude_categories=["Cs"]), min_size=1)


def test_each_sentence_is_translated_and_none_is_superfluous():
    assert said.catalogue_faults(written(), german()) == []


def test_every_error_of_the_goldens_is_given_in_german():
    printed = {
        text.replace("{", "{{").replace("}", "}}"): text
        for path in sorted(Path("tests/golden").rglob("*.fail.test"))
        for pair in PRINTED.findall(path.read_text("utf-8").partition("\n----\n")[2])
        for text in pair
    }
    sentences = [text for written, text in printed.items() if says_something(written)]
    assert len(sentences) > 150
    assert {one for one in sentences if SENTENCES.translated(one) == one} == EXAMPLES


@given(st.sampled_from(TEMPLATES), st.data())
def test_what_a_sentence_was_filled_with_is_in_its_translation(template, data):
    values = [data.draw(FOREIGN) for _ in template.names]
    parts = [*zip(template.literals, values, strict=False)]
    sentence = "".join(part for pair in parts for part in pair) + template.literals[-1]
    answer = SENTENCES.translated(sentence)
    assert all(value in answer for value in values)


@given(st.text())
def test_whatever_is_no_sentence_of_ours_is_left_as_it_is_or_told_without_failing(text):
    assert isinstance(SENTENCES.translated(text), str)
    assert SENTENCES.translated(f"\x00{text}\x00") == f"\x00{text}\x00"


@pytest.mark.parametrize(
    ("english", "in_german"),
    [
        ("there is no room 'attic'", "es gibt keinen Raum 'attic'"),
        ("cannot add kg and s", "kg und s können nicht addiert werden"),
        (
            "under that update v cannot be maintained: there is no column 'x'",
            "mit dieser Änderung kann v nicht gepflegt werden: es gibt keine Spalte 'x'",
        ),
        ("up to 5", "bis zu 5"),
        ("up to 78,659 rows", "bis zu 78.659 Zeilen"),
        ("up to 1,234.5", "bis zu 1.234,5"),
        ("1,234", "1,234"),
        ("as far as Scan seat_reading as s", "bis Scan seat_reading as s"),
        (
            "co2 is not placed: several rooms: 101, 102",
            "co2 wird nicht platziert: mehrere Räume: 101, 102",
        ),
        ("a sentence of nobody's", "a sentence of nobody's"),
        ("room", "room"),
    ],
)
def test_a_sentence_is_told_by_its_template(english, in_german):
    assert translated(english, "de") == in_german
    assert translated(english, "en") == english
    assert translated(english) == english


def test_an_error_keeps_its_code_and_its_names():
    error = {"code": "aspen.bind.unknown_column", "message": "there is no column 'mids'"}
    error |= {"position": None, "found": "mids", "exists": ["mid", "rid"], "try": "leave it out"}
    assert in_words(error) == error
    german = {**error, "message": "es gibt keine Spalte 'mids'", "try": "weglassen"}
    with override("de"):
        assert in_words(error) == german


def test_a_text_that_matches_almost_everything_takes_no_time():
    hostile = "there is no column and of the " * (LONGEST // 30)
    begun_s = time.perf_counter()
    SENTENCES.translated(hostile[:LONGEST])
    assert time.perf_counter() - begun_s < 2.0
    assert SENTENCES.translated("x" + hostile) == "x" + hostile


def test_a_sentence_is_followed_through_variables_helpers_and_callers(tmp_path):
    module = tmp_path / "aspen" / "errors.py"
    module.parent.mkdir()
    module.write_text(
        '''
class AspenError(Exception): ...
class NotFound(AspenError): ...
class Own(NotFound):
    def __init__(self, name, why="for nothing at all"):
        super().__init__(f"{name} is gone {why}")
ADVICE = {"a": "look for it elsewhere", "b": "wait for it"}
def unknown(what, found, near):
    """There is no such thing."""
    remedy = f"did you mean {near[0]}?" if near else "ask for names"
    return NotFound(f"there is no {what} {found!r}", found=found, attempt=remedy)
def _spelt(one):
    return f"the {one} door" if one else "a door of the house"
def use(name, key):
    raise unknown("walking point", name, [])
    raise unknown(_spelt(name), name, [])
    raise Own(name)
    raise AspenError("it is " + "shut", attempt=ADVICE[key], exists=["up to {n}"])
    raise ValueError("nobody reads this here")
def work(progress, key):
    progress(f"looking at {key}")
'''
    )
    assert sorted(sentences_written(tmp_path)) == [
        "ask for names",
        "did you mean {near}?",
        "it is shut",
        "look for it elsewhere",
        "looking at {key}",
        "there is no a door of the house {found}",
        "there is no the {one} door {found}",
        "there is no walking point {found}",
        "wait for it",
        "{name} is gone for nothing at all",
    ]
