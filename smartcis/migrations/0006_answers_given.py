import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("smartcis", "0005_placements"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Outlet",
            fields=[
                (
                    "query",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="outlet",
                        serialize=False,
                        to="smartcis.maintainedquery",
                    ),
                ),
                ("outputs", models.JSONField()),
                ("epoch", models.BigIntegerField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name="maintainedquery",
            name="order",
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="maintainedview",
            name="kept",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="maintainedview",
            name="named",
            field=models.BooleanField(default=False),
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=120, unique=True)),
                ("target", models.CharField(max_length=500)),
                ("epoch", models.BigIntegerField()),
                ("position", models.BigIntegerField()),
                ("at_s", models.FloatField()),
                ("row", models.JSONField()),
                ("weight", models.IntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("delivered", "Delivered"),
                            ("given_up", "Given Up"),
                        ],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("attempts", models.IntegerField(default=0)),
                (
                    "due_at",
                    models.DateTimeField(
                        db_index=True, default=django.utils.timezone.now, null=True
                    ),
                ),
                ("settled_at", models.DateTimeField(null=True)),
                ("fault", models.CharField(blank=True, max_length=300)),
                (
                    "outlet",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="smartcis.outlet",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "ordering": ("pk",),
            },
        ),
        migrations.CreateModel(
            name="OwnRelation",
            fields=[
                ("name", models.CharField(max_length=60, primary_key=True, serialize=False)),
                ("declaration", models.JSONField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="own_relations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="Alarm",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("name", models.CharField(max_length=80)),
                ("target", models.CharField(blank=True, max_length=80)),
                ("message", models.CharField(max_length=500)),
                ("raised_s", models.FloatField()),
                (
                    "outlet",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="alarms",
                        to="smartcis.outlet",
                    ),
                ),
            ],
            options={
                "ordering": ("-raised_s", "pk"),
                "abstract": False,
                "base_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("outlet", "digest", "target"), name="alarm_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="OwnRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=64)),
                ("digest", models.CharField(db_index=True, max_length=64)),
                ("row", models.JSONField()),
                (
                    "relation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="held",
                        to="smartcis.ownrelation",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "abstract": False,
                "base_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(fields=("relation", "key"), name="own_row_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="ToldRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("row", models.JSONField()),
                ("weight", models.IntegerField()),
                (
                    "outlet",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="told",
                        to="smartcis.outlet",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("outlet", "digest"), name="told_once")
                ],
            },
        ),
    ]
