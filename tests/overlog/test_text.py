"""The text of rules: what is read, what is refused, and where the error points."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from golden import runner
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.errors import AspenError
from aspen.overlog import compile_program, errors, parse
from overlog.network import CATALOG, NAMES, answers, text_of

EVERY_TEXT = [text_of(name, "overlog") for name in NAMES]
PIECES = [
    ":-",
    "(",
    ")",
    ",",
    ".",
    "!",
    "=",
    "<",
    "min<",
    "X",
    "_",
    '"',
    "/*",
    "link",
    "3",
    "-",
    "@",
]


def rules_in(text):
    lines = [line for line in text.splitlines() if not line.startswith("//")]
    return [rule.strip() for rule in "\n".join(lines).split(".\n") if rule.strip()]


def literals(body):
    """Take a body apart at the commas outside brackets."""
    found, depth = [""], 0
    for letter in body:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_rules_and_of_bodies_changes_no_answer(name, seed):
    shuffle = random.Random(seed)
    rules = rules_in(text_of(name, "overlog") + "\n")
    shuffled = []
    for rule in rules:
        head, body = rule.split(":-")
        parts = literals(body)
        shuffle.shuffle(parts)
        shuffled.append(f"{head} :- {','.join(parts)}.")
    shuffle.shuffle(shuffled)
    plain = compile_program(text_of(name, "overlog"), CATALOG)
    other = compile_program("\n".join(shuffled), CATALOG)
    for _ in range(3):
        tables = {
            relation.name: {
                tuple(_value(column.type.value, shuffle) for column in relation.columns): 1
                for _ in range(8)
            }
            for relation in CATALOG
        }
        assert answers(other, tables) == answers(plain, tables)


def _value(kind, chance):
    return {"TEXT": chance.choice("abcd"), "INT": chance.randint(1, 3), "FLOAT": 20.5}[kind]


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_broken_text_is_refused_with_a_place_in_it(data):
    text = data.draw(st.sampled_from(EVERY_TEXT))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.integers(0, 4))
        text = text[:at] + data.draw(st.sampled_from(["", *PIECES])) + text[at + gone :]
    error = refusal(text)
    lines = text.split("\n")
    if error is not None and error.position is not None:
        assert 1 <= error.position.line <= len(lines)
        assert 1 <= error.position.column <= len(lines[error.position.line - 1]) + 1


def refusal(text):
    """Returns the error a text is refused with; any other exception fails the test."""
    try:
        compile_program(text, CATALOG)
    except AspenError as error:
        return error
    return None


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    with suppress(errors.OverlogError):
        assert parse(text).rules


def test_every_error_code_is_shown_by_a_golden_case():
    cases = [case for case in runner.cases() if case.path.parent.name == "01_overlog"]
    shown = {case.expected.split(":", maxsplit=1)[0] for case in cases if case.fails}
    codes = {
        kind.code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.OverlogError)
    }
    assert codes - {errors.OverlogError.code} <= shown


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        ("p(X) :- link(X, Y), Y = _.", "aspen.overlog.syntax", (1, 25)),
        ("p(X) :- link(X, _ + 1).", "aspen.overlog.syntax", (1, 17)),
        ("p(X) :- link(X, Y), !link(Y, Z).", "aspen.overlog.unbound_variable", (1, 30)),
        ("p(X) :-\n  link(X, Y), Z < 3.", "aspen.overlog.unbound_variable", (2, 15)),
        ("p(X) :- link(X, Y), A = B, B = A.", "aspen.overlog.unbound_variable", (1, 25)),
        ("p(sum<*>) :- link(X, Y).", "aspen.overlog.syntax", (1, 3)),
        ("p(median<X>) :- link(X, Y).", "aspen.overlog.syntax", (1, 3)),
        (f"p(X) :- link(X, Y), N = {'9' * 5000}.", "aspen.overlog.syntax", (1, 25)),
        ("p(X) :- link(X, Y), N = 1.0e999.", "aspen.overlog.syntax", (1, 25)),
        (f"p(X) :- link(X, Y), N = {'(' * 5000}.", "aspen.overlog.unsupported", None),
        (f"p(X, N) :- channel(X, _, B), N = {'B + ' * 3000}B.", "aspen.overlog.unsupported", None),
        (f"p(X) :- {', '.join(['link(X, _)'] * 51)}.", "aspen.overlog.unsupported", None),
        ("p(X) :- link(X, _). " * 301, "aspen.overlog.unsupported", None),
        (
            "p(N9) :- channel(_, _, N0)"
            + "".join(f", N{i + 1} = N{i} + N{i}" for i in range(9))
            + ".",
            "aspen.overlog.unsupported",
            (1, 113),
        ),
        ("p(X) :- link(X, Y), X.", "aspen.overlog.syntax", (1, 22)),
        ("P(X) :- link(X, Y).", "aspen.overlog.syntax", (1, 1)),
        ("p(X)", "aspen.overlog.syntax", (1, 5)),
        ("", "aspen.overlog.syntax", None),
        ("p(X) :- p(Y), !p(X), link(X, Y).", "aspen.overlog.non_stratified", (1, 16)),
        ("p(sum<X>) :- channel(_, _, X), p(X).", "aspen.overlog.non_stratified", (1, 32)),
        ("p(X) :- link(X, Y), lower(Y) < 3.", "aspen.bind.type_mismatch", (1, 32)),
        ("p(X) :- link(X, _), temperature(X, C), C + X > 3.", "aspen.bind.type_mismatch", None),
    ],
)
def test_an_error_points_at_its_cause(text, code, at):
    with pytest.raises(AspenError) as caught:
        compile_program(text, CATALOG)
    assert caught.value.code == code
    if at is not None:
        assert caught.value.position is not None
        assert (caught.value.position.line, caught.value.position.column) == at


def test_the_largest_programs_compile():
    body = ", ".join(f"link(X{i}, X{i + 1})" for i in range(50))
    assert compile_program(f"p(X0, X50) :- {body}.", CATALOG)
    chain = " ".join(f"p{i + 1}(X) :- p{i}(X)." for i in range(299))
    assert len(compile_program(chain + " p0(X) :- link(X, _).", CATALOG)) == 300
    union = " ".join("p(X) :- link(X, _)." for _ in range(300))
    assert compile_program(union, CATALOG)
    sums = "B + " * 99
    assert compile_program(f"p(N) :- channel(_, _, B), N = {sums}B.", CATALOG)


@pytest.mark.parametrize(
    "text",
    [
        # One column counts to a bound, so another may grow as it likes.
        (
            "p(X, P, N) :- link(X, _), P = X, N = 0."
            " p(Y, Q, M) :- p(X, P, N), link(X, Y), N < 5, M = N + 1, Q = concat(P, Y)."
        ),
        # It may count down, too.
        (
            "p(X, P, N) :- link(X, _), P = X, N = 9."
            " p(Y, Q, M) :- p(X, P, N), link(X, Y), N > 5, M = N - 1, Q = concat(P, Y)."
        ),
        # A strictly larger value of a finite relation ends it as well.
        (
            "p(X, P, N) :- channel(X, _, N), P = X."
            " p(Y, Q, M) :- p(X, P, N), channel(X, Y, M), M > N, Q = concat(P, Y)."
        ),
    ],
)
def test_a_climbing_column_ends_a_recursion(text):
    channel = dict.fromkeys([("a", "b", 1), ("b", "a", 2), ("a", "a", 3)], 1)
    link = dict.fromkeys([("a", "b"), ("b", "a"), ("a", "a")], 1)
    (view,) = compile_program(text, CATALOG)
    assert answers([view], {"link": link, "channel": channel})["p"]


@pytest.mark.parametrize(
    "text",
    [
        "p(X, P) :- link(X, _), P = X. p(Y, Q) :- p(X, P), link(X, Y), Q = concat(P, Y).",
        # Equal is not larger: a cycle of equal widths would go on.
        (
            "p(X, P, N) :- channel(X, _, N), P = X."
            " p(Y, Q, M) :- p(X, P, N), channel(X, Y, M), M >= N, Q = concat(P, Y)."
        ),
        # Two rules that climb different ways do not end each other.
        (
            "p(X, P, N) :- link(X, _), P = X, N = 5."
            " p(Y, Q, M) :- p(X, P, N), link(X, Y), N < 9, M = N + 1, Q = concat(P, Y)."
            " p(Y, Q, M) :- p(X, P, N), link(X, Y), N > 1, M = N - 1, Q = concat(P, Y)."
        ),
        # The bound is on another column.
        (
            "p(X, P, N) :- channel(X, _, N), P = 0."
            " p(Y, Q, N) :- p(X, P, N), link(X, Y), N < 9, Q = P + 1."
        ),
    ],
)
def test_what_may_go_on_for_ever_is_refused(text):
    with pytest.raises(errors.UnboundedRule):
        compile_program(text, CATALOG)
