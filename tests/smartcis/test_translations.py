"""Nothing that pages say is left out of the German catalogue; each way to leave it out is seen."""

from __future__ import annotations

from pathlib import Path

import pytest
import said_in_pages as said
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from django import forms
from django.contrib import admin
from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy, override

from smartcis.examples import EXAMPLES
from smartcis.models import Door, Machine
from tests.catalogues.command import extracted, written_in

TEMPLATES = Path("smartcis/templates")
NAMES = frozenset(
    {"SmartCIS", "· SmartCIS", "/api/v1/", "page docs"}  # names
    | {"1,0", "width=device-width, initial-scale=1"}  # read by scripts and browsers
)
"""What templates say in every language."""
SAME = frozenset(
    {"software", "name", "code", "id", "host", "format", "sensor", "alarm", "topic", "position"}
    | {"polygon", "plan", "pseudonym", "uid", "kiosk", "smartcis"}
    | {"home assistant (websocket)", "modbus tcp", "bacnet/ip", "icalendar"}
)
"""What is spelt alike in English and in German."""

DATA = {"ground", "start"}
"""A floor of the tests' house is called Ground; Django's own page says Start in German."""


@pytest.fixture(scope="module")
def german() -> Catalog:
    with Path("smartcis/locale/de/LC_MESSAGES/django.po").open("rb") as file:
        return read_po(file, locale="de")


def test_each_message_is_translated_and_none_is_superfluous(german):
    assert said.catalogue_faults(extracted(), german) == []


def test_an_example_is_called_alike_by_the_server_and_by_its_pages(german):
    with Path("smartcis/locale/de/LC_MESSAGES/djangojs.po").open("rb") as file:
        pages = read_po(file, locale="de")
    called = {one.title: (german[one.title].string, pages[one.title].string) for one in EXAMPLES}
    assert {title: names for title, names in called.items() if len(set(names)) > 1} == {}


def test_each_template_says_nothing_past_the_catalogue():
    found = {str(path): said.unwrapped(path.read_text("utf-8"), NAMES) for path in templates()}
    assert {path: texts for path, texts in found.items() if texts} == {}


def templates() -> list[Path]:
    paths = sorted(TEMPLATES.rglob("*.html"))
    assert len(paths) > 15
    return paths


def test_names_labels_choices_and_actions_are_in_the_page_s_language(rf, db):
    request = rf.get("/admin/")
    request.user = User(username="keeper", is_superuser=True, is_staff=True)
    assert list(said.fixed(admin.site, request, SAME)) == []


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        ("<p>Nobody translates this</p>", "Nobody translates this"),
        ('<p>{% translate "Sign in" %} or not</p>', "or not"),
        ('<input type="submit" value="Keep {{ name }}">', "Keep"),
        ('<a aria-label="Back" href="/"></a>', "Back"),
        ('<img alt="A plan">', "A plan"),
        ('{{ room|default:"none" }}', "none"),
        ("{% blocktranslate %}Well{% endblocktranslate %}<b>done</b>", "done"),
        ("{% if x %}<title>Page</title>{% endif %}", "Page"),
    ],
)
def test_a_text_of_a_template_that_is_not_wrapped_is_found(wrong, found):
    assert said.unwrapped(wrong) == [found]


def test_what_is_wrapped_or_not_spoken_is_left_alone():
    right = (
        '<p class="card" id="state">{% translate "Sign in" %} {{ name }}: 7 · 9</p>'
        "{% blocktranslate count n=3 %}{{ n }} door{% plural %}{{ n }} doors{% endblocktranslate %}"
        "<style>.plan { fill: red }</style>{# a comment #}<input type='hidden' value='text'>"
    )
    assert said.unwrapped(right) == []


def test_each_fault_of_a_catalogue_is_found():
    wanted, written = Catalog(), Catalog(locale="de", fuzzy=False)
    for message in ("right", "missing", "empty", "for %(name)s", "<b>bold</b>", "unsure"):
        wanted.add(message)
    wanted.add(("%d door", "%d doors"))
    written.add("right", "richtig")
    written.add("empty", "")
    written.add("for %(name)s", "für %(nam)s")
    written.add("<b>bold</b>", "fett")
    written.add("unsure", "unsicher", flags=["fuzzy"])
    written.add(("%d door", "%d doors"), ("%d Tür", ""))
    written.add("of yesterday", "von gestern")
    assert sorted(said.catalogue_faults(wanted, written)) == [
        "fuzzy: unsure",
        "missing: missing",
        "nobody says: of yesterday",
        "not translated: ('%d door', '%d doors')",
        "not translated: empty",
        "other placeholders: <b>bold</b>",
        "other placeholders: for %(name)s",
    ]


def test_each_name_of_the_admin_that_is_not_translated_is_found(rf, db):
    class WrongForm(forms.ModelForm):
        host = forms.CharField(label="Called", help_text=gettext_lazy("Untick for a real machine."))

        class Meta:
            model = Machine
            fields = ("mid",)

    class Wrong(ModelAdmin):
        form = WrongForm
        list_display = ("mid", "shown")
        actions = ("mend",)
        fieldsets = (("A part", {"fields": ("mid",)}), (gettext_lazy("Devices"), {"fields": ()}))

        def shown(self, machine):
            return machine.mid

        @admin.action(description="Mend it")
        def mend(self, request, chosen):
            pass

    site = AdminSite()
    site.site_header, site.index_title = gettext_lazy("Administration"), "At home"
    site.register(Machine, Wrong)
    request = rf.get("/admin/")
    request.user = User(username="keeper", is_superuser=True, is_staff=True)
    assert sorted(said.fixed(site, request, SAME)) == [
        "site: At home",
        "smartcis.Machine (action): Mend it",
        "smartcis.Machine (column shown): shown",
        "smartcis.Machine (host): Called",
        "smartcis.Machine (part): A part",
    ]


def test_a_field_and_its_choices_are_named_in_the_page_s_language():
    with override("de"):
        assert str(Door._meta.verbose_name_plural) == "Türen"
        assert Door(state=Door.LOCKED).get_state_display() == "verschlossen"
    assert Door(state=Door.LOCKED).get_state_display() == "locked"


def test_messages_are_found_in_modules_and_templates(tmp_path):
    module = tmp_path / "module.py"
    module.write_text('said = _("one " "text")\nmany = ngettext("%d door", "%d doors", count)\n')
    page = tmp_path / "page.html"
    page.write_text(
        "{% translate 'It is <b>here</b>' %}{% blocktranslate %}so {{ x }}{% endblocktranslate %}"
    )
    assert list(written_in(module)) == ["one text", ("%d door", "%d doors")]
    assert list(written_in(page)) == ["It is <b>here</b>", "so %(x)s"]


@pytest.mark.parametrize(
    "path",
    [
        *("/login/", "/nowhere/", "/logout/", "/", "/admin/", "/admin/smartcis/door/"),
        *("/admin/smartcis/sensor/add/", "/admin/smartcis/source/add/", "/admin/smartcis/machine/"),
        *("/admin/smartcis/machine/inventory/", "/admin/smartcis/buildingimport/add/"),
        *("/admin/smartcis/readpolicy/", "/admin/smartcis/accesstoken/add/"),
        "/admin/smartcis/door/{door}/change/",
    ],
)
def test_a_german_page_says_nothing_in_english(client, house, building, german, path):
    if "admin" in path or path == "/logout/":
        client.force_login(User.objects.create_superuser("keeper", password="x"))
    path = path.format(door=Door.objects.values_list("pk", flat=True)[0])
    page = client.get(path, headers={"Accept-Language": "de"}).content.decode()
    english = {plain(one.id) for one in german if isinstance(one.id, str)}
    english -= {plain(one.string) for one in german if isinstance(one.id, str)}
    found = {plain(word) for word in said.words_of(page)}
    assert '<html lang="de"' in page
    assert (found & english) - DATA == set()


def plain(word: str) -> str:
    """Returns a word as it is compared: labels begin with a capital and end with a colon."""
    return word.removesuffix(":").casefold()
