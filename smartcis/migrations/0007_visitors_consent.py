"""Visitors choose what others see; looks of the staff are noted.

What a log already knows of the building lacks the new relations' rows: they are told here.
"""

import secrets

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import smartcis.models.visitors

PERSONAL = {"rfid_reading", "visitor", "visitor_heard"}
ROWS_PER_BODY = 2_000


def name_visitors(apps, schema_editor):
    """Assigns each visitor a name and a code of its own; simulated ones let themselves be seen."""
    for visitor in apps.get_model("smartcis", "Visitor").objects.all():
        visitor.pseudonym = f"v-{secrets.token_hex(5)}"
        visitor.code = secrets.token_urlsafe(16)
        visitor.consent = "exact" if visitor.simulated else "hidden"
        visitor.save()


def tell_the_log(apps, schema_editor):
    """Write the rows of `visitor` and `room_point` to the outbox, if a log knows this building."""
    if not apps.get_model("smartcis", "LogLink").objects.exists():
        return
    visitors = apps.get_model("smartcis", "Visitor").objects.exclude(consent="hidden")
    units = apps.get_model("smartcis", "Unit").objects.all()
    rows = [["visitor", 1, v.tag, v.pseudonym, v.consent, v.simulated] for v in visitors]
    rows += [["room_point", 1, u.rid, u.label_x_m, u.label_y_m] for u in units]
    outbox = apps.get_model("smartcis", "OutboxEntry").objects
    for start in range(0, len(rows), ROWS_PER_BODY):
        body = {"changes": rows[start : start + ROWS_PER_BODY]}
        outbox.create(token=f"0007:{start}", body=body)


def close_queries(apps, schema_editor):
    """Keep for the staff what people asked over readings of tags before these were closed."""
    views = apps.get_model("smartcis", "MaintainedView").objects.filter(standing=False)
    closed = set(PERSONAL)
    for view in views.order_by("order"):  # a view after those it reads
        if closed & set(view.sources):
            view.private = True
            view.save(update_fields=["private"])
        if view.private and view.named:
            closed.add(view.name)


def nothing(apps, schema_editor):
    """Leave the rows: the columns go with them."""


class Migration(migrations.Migration):
    dependencies = [
        ("smartcis", "0006_answers_given"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="StaffAccess",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("account", models.CharField(max_length=150)),
                ("how", models.CharField(max_length=20)),
                ("what", models.CharField(max_length=2_000)),
                ("at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ("last_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("times", models.PositiveIntegerField(default=1)),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"verbose_name_plural": "staff accesses", "ordering": ("-at",)},
        ),
        migrations.AlterModelOptions(
            name="visitor",
            options={"base_manager_name": "objects", "ordering": ("tag",)},
        ),
        migrations.AddField(
            model_name="visitor",
            name="consent",
            field=models.CharField(
                choices=[
                    ("hidden", "hidden: nothing"),
                    ("counted", "counted: only in numbers of three or more"),
                    ("room", "room: the room, under a name that changes daily"),
                    ("exact", "exact: the place, under a name that changes daily"),
                ],
                default="hidden",
                max_length=8,
            ),
        ),
        migrations.AddField(
            model_name="visitor",
            name="named_on",
            field=models.DateField(db_index=True, default=django.utils.timezone.localdate),
        ),
        migrations.AddField(
            model_name="visitor",
            name="pseudonym",
            field=models.CharField(max_length=20, null=True),
        ),
        migrations.AddField(
            model_name="visitor",
            name="code",
            field=models.CharField(max_length=32, null=True),
        ),
        migrations.RunPython(name_visitors, nothing),
        migrations.AlterField(
            model_name="visitor",
            name="pseudonym",
            field=models.CharField(
                default=smartcis.models.visitors.mint_pseudonym, max_length=20, unique=True
            ),
        ),
        migrations.AlterField(
            model_name="visitor",
            name="code",
            field=models.CharField(
                default=smartcis.models.visitors.mint_code, max_length=32, unique=True
            ),
        ),
        migrations.RunPython(tell_the_log, nothing),
        migrations.RunPython(close_queries, nothing),
    ]
