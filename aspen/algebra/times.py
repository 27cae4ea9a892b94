"""What the functions over times compute; a time is a text in the spelling of `aspen.model.times`.

Every function is total: where there is no time from year 1 to 9999 it gives null.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from aspen.model.times import MOMENT_ENDS, in_utc, spelt, spelt_time, zone_named

_P = ParamSpec("_P")
_T = TypeVar("_T")
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # all clocks here are of one zone
_WEEKS_FROM = datetime(2000, 1, 3)  # noqa: DTZ001  # as above; a Monday
_MICROSECOND = timedelta(microseconds=1)
_YEARS = {"year": 1, "decade": 10, "century": 100}
_DATE_LENGTH = 10
_SPELLINGS = {
    "microsecond": "microseconds us usec usecs",
    "millisecond": "milliseconds ms msec msecs",
    "second": "seconds s sec secs",
    "minute": "minutes m min mins",
    "hour": "hours h hr hrs",
    "day": "days d dayofmonth",
    "week": "weeks w weekofyear",
    "month": "months mon mons",
    "quarter": "quarters",
    "year": "years y yr yrs",
    "decade": "decades",
    "century": "centuries",
    "dow": "dayofweek weekday",
    "isodow": "",
    "doy": "dayofyear",
    "isoyear": "",
    "yearweek": "",
    "epoch": "",
}
PARTS = {word: part for part, words in _SPELLINGS.items() for word in (part, *words.split())}
"""The parts of a time, by all their spellings."""
PART_FUNCTIONS = frozenset(
    word for word in PARTS if word == "day" or (len(word) > len("dow") and word[-1] != "s")
) - {"epoch"}
"""The parts that are functions too: `year(t)`."""
SECONDS = {
    "microsecond": 1e-6,
    "millisecond": 1e-3,
    "second": 1.0,
    "minute": 60.0,
    "hour": 3600.0,
    "day": 86_400.0,
    "week": 604_800.0,
}
"""The parts that always have one length, in seconds."""
MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
"""The parts that the calendar says the length of, in months."""


def _total(compute: Callable[_P, _T]) -> Callable[_P, _T | None]:
    """Returns a function that gives null where time ends, or what is given is no part of one."""

    @wraps(compute)
    def computed(*args: _P.args, **kwargs: _P.kwargs) -> _T | None:
        try:
            return compute(*args, **kwargs)
        except (OverflowError, ValueError, KeyError):
            return None

    return computed


def _is_clock(text: str) -> bool:
    return text[2] == ":"


def _read(text: str) -> datetime:
    """Returns what a time's clock shows, on the first day of 1970 where it has no date."""
    if _is_clock(text):
        return datetime.combine(_EPOCH, time.fromisoformat(text))
    return datetime.fromisoformat(text.removesuffix(MOMENT_ENDS))


def _like(text: str, moment: datetime) -> str:
    """Writes a time in the form of another one; a date becomes a timestamp."""
    if _is_clock(text):
        return spelt_time(moment.time())
    return spelt(moment) + (MOMENT_ENDS if text.endswith(MOMENT_ENDS) else "")


@_total
def add_seconds(text: str, seconds: float) -> str:
    """Returns a time so many seconds later; a time of day begins anew at midnight."""
    span = timedelta(microseconds=round(seconds * 1e6))
    if _is_clock(text):
        span %= timedelta(days=1)
    return _like(text, _read(text) + span)


@_total
def add_days(text: str, days: int) -> str:
    """Returns a date so many days later."""
    return (date.fromisoformat(text) + timedelta(days=days)).isoformat()


@_total
def add_months(text: str, months: int) -> str:
    """Returns a time so many months later, on the last day of a month that is too short."""
    moment = _read(text)
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    day = min(moment.day, monthrange(year, month + 1)[1])
    return _like(text, moment.replace(year, month + 1, day))


@_total
def seconds_between(earlier: str, later: str) -> float:
    """Returns the seconds from one time to another."""
    return (_read(later) - _read(earlier)).total_seconds()


def epoch_us(text: str) -> int:
    """Returns the microseconds since 1970 began, in UTC; of a time of day, since midnight."""
    return (_read(text) - _EPOCH) // _MICROSECOND


@_total
def from_epoch(seconds: float) -> str:
    """Returns the moment so many seconds after 1970 began."""
    return spelt(_EPOCH + timedelta(microseconds=round(seconds * 1e6))) + MOMENT_ENDS


@_total
def date_part(part: str, text: str) -> int:
    """Returns a part of a time as a number."""
    return _part(PARTS[part], _read(text))


def _part(part: str, moment: datetime) -> int:
    match part:
        case "year" | "month" | "day" | "hour" | "minute" | "second" | "microsecond":
            found: int = getattr(moment, part)
            return found + (moment.second * 1_000_000 if part == "microsecond" else 0)
        case "millisecond":
            return moment.second * 1000 + moment.microsecond // 1000
        case "quarter":
            return (moment.month + 2) // 3
        case "decade":
            return moment.year // 10
        case "century":
            return (moment.year + 99) // 100
        case "dow":
            return moment.isoweekday() % 7
        case "isodow":
            return moment.isoweekday()
        case "doy":
            return moment.timetuple().tm_yday
        case "week":
            return moment.isocalendar().week
        case "isoyear":
            return moment.isocalendar().year
        case "yearweek":
            return moment.isocalendar().year * 100 + moment.isocalendar().week
    raise KeyError(part)


@_total
def date_trunc(part: str, text: str) -> str:
    """Returns the start of the part a time lies in; of a date, as a timestamp."""
    return _like(text, _start(PARTS[part], _read(text)))


def _start(part: str, moment: datetime) -> datetime:
    midnight = datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001  # as its clock has it
    if part == "week":
        return midnight - timedelta(days=midnight.weekday())
    if part in SECONDS:
        span = timedelta(seconds=SECONDS[part])
        return moment - (moment - midnight) % span
    month = midnight.replace(day=1)
    if part == "quarter":
        return month.replace(month=moment.month - (moment.month - 1) % 3)
    if part in _YEARS:
        return month.replace(year=moment.year - moment.year % _YEARS[part], month=1)
    return month


@_total
def date_diff(part: str, earlier: str, later: str) -> int:
    """Returns how many starts of a part lie between two times; of weeks, how many have passed."""
    one, other, found = _read(earlier), _read(later), PARTS[part]
    if found == "week":
        return int((_start("day", other) - _start("day", one)) / timedelta(days=7))
    if found in SECONDS:
        return (_start(found, other) - _start(found, one)) // timedelta(seconds=SECONDS[found])
    first, last = (_months(moment) // MONTHS[found] for moment in (one, other))
    return last - first


def _months(moment: datetime) -> int:
    return moment.year * 12 + moment.month - 1


@_total
def date_sub(part: str, earlier: str, later: str) -> int:
    """Returns how many whole parts lie between two times."""
    one, other, found = _read(earlier), _read(later), PARTS[part]
    if one > other:
        back = date_sub(part, later, earlier)
        return 0 if back is None else -back
    if found in SECONDS:
        return (other - one) // timedelta(seconds=SECONDS[found])
    months = _months(other) - _months(one)
    last = monthrange(other.year, other.month)[1]
    reached = one.replace(year=other.year, month=other.month, day=min(one.day, last))
    return (months - (reached > other)) // MONTHS[found]


@_total
def time_bucket(width_s: float, text: str) -> str | None:
    """Returns the start of the span a time lies in; spans are counted from a Monday."""
    span = timedelta(microseconds=round(width_s * 1e6))
    if span <= timedelta():
        return None
    moment = _read(text)
    start = _like(text, moment - (moment - _WEEKS_FROM) % span)
    return start[:_DATE_LENGTH] if len(text) == _DATE_LENGTH else start


@_total
def last_day(text: str) -> str:
    """Returns the last day of a time's month."""
    day = _read(text).date()
    return day.replace(day=monthrange(day.year, day.month)[1]).isoformat()


@_total
def make_date(year: int, month: int, day: int) -> str:
    """Returns a date."""
    return date(year, month, day).isoformat()


@_total
def make_time(hour: int, minute: int, second: float) -> str:
    """Returns a time of day."""
    return spelt_time(_clock(hour, minute, second))


@_total
def make_timestamp(year: int, month: int, day: int, hour: int, minute: int, second: float) -> str:
    """Returns a date and time."""
    return spelt(datetime.combine(date(year, month, day), _clock(hour, minute, second)))


def _clock(hour: int, minute: int, second: float) -> time:
    whole, micros = divmod(round(second * 1e6), 1_000_000)
    return time(hour, minute, whole, micros)


@_total
def in_zone(zone: str, text: str) -> str | None:
    """Returns what clocks in a zone show at a moment; of a timestamp, when they show it."""
    known = zone_named(zone)
    if known is None:
        return None
    moment = _read(text)
    if text.endswith(MOMENT_ENDS):
        return spelt(moment.replace(tzinfo=UTC).astimezone(known).replace(tzinfo=None))
    return spelt(in_utc(moment, known)) + MOMENT_ENDS


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)


def dayname(text: str) -> str:
    """Returns the English name of a time's day."""
    return _DAYS[_read(text).weekday()]


def monthname(text: str) -> str:
    """Returns the English name of a time's month."""
    return _MONTHS[_read(text).month - 1]


CODES: dict[str, Callable[[datetime], Any]] = {
    "a": lambda t: _DAYS[t.weekday()][:3],
    "A": lambda t: _DAYS[t.weekday()],
    "b": lambda t: _MONTHS[t.month - 1][:3],
    "B": lambda t: _MONTHS[t.month - 1],
    "c": lambda t: t.isoformat(" ", "seconds"),
    "d": lambda t: f"{t.day:02}",
    "f": lambda t: f"{t.microsecond:06}",
    "g": lambda t: f"{t.microsecond // 1000:03}",
    "G": lambda t: f"{t.isocalendar().year:04}",
    "H": lambda t: f"{t.hour:02}",
    "I": lambda t: f"{(t.hour + 11) % 12 + 1:02}",
    "j": lambda t: f"{t.timetuple().tm_yday:03}",
    "m": lambda t: f"{t.month:02}",
    "M": lambda t: f"{t.minute:02}",
    "p": lambda t: "AM" if t.hour < 12 else "PM",  # noqa: PLR2004  # noon
    "S": lambda t: f"{t.second:02}",
    "u": lambda t: t.isoweekday(),
    "U": lambda t: f"{(t.timetuple().tm_yday + 6 - t.isoweekday() % 7) // 7:02}",
    "V": lambda t: f"{t.isocalendar().week:02}",
    "w": lambda t: t.isoweekday() % 7,
    "W": lambda t: f"{(t.timetuple().tm_yday + 6 - t.weekday()) // 7:02}",
    "x": lambda t: t.date().isoformat(),
    "X": lambda t: t.time().isoformat("seconds"),
    "y": lambda t: f"{t.year % 100:02}",
    "Y": lambda t: f"{t.year:04}",
    "%": lambda _: "%",
}
"""What the codes of a format stand for."""
_WITHOUT_ZEROS = frozenset("dHIjmMSy")


def format_fault(form: str) -> str:
    """Returns the first code of a format that stands for nothing; empty where all do."""
    pieces = form.replace("%%", "").split("%")[1:]
    for piece in pieces:
        code = piece[1:2] if piece[:1] == "-" else piece[:1]
        if code not in (_WITHOUT_ZEROS if piece[:1] == "-" else CODES.keys()) or not code:
            return f"%{piece[:2] if piece[:1] == '-' else piece[:1]}"
    return ""


@_total
def strftime(text: str, form: str) -> str:
    """Writes a time as a format says: `%d.%m.%Y`, and `%-d` for a day without a zero before it."""
    moment = _read(text)
    first, *pieces = form.replace("%%", "%\0").split("%")
    written = [first]
    for piece in pieces:
        if piece[:1] == "\0":
            written.append("%" + piece[1:])
        elif piece[:1] == "-" and piece[1:2] in _WITHOUT_ZEROS:
            written.append(str(int(CODES[piece[1]](moment))) + piece[2:])
        else:
            written.append(str(CODES[piece[:1]](moment)) + piece[1:])
    return "".join(written)
