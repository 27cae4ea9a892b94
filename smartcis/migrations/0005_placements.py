import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("smartcis", "0004_sensor_kinds")]

    operations = [
        migrations.CreateModel(
            name="NetworkPiece",
            fields=[
                ("name", models.CharField(max_length=20, primary_key=True, serialize=False)),
                ("declaration", models.JSONField()),
                ("plan_text", models.TextField()),
                ("replaces_text", models.TextField()),
                ("period_s", models.FloatField()),
                ("method", models.CharField(max_length=12)),
                ("keys", models.IntegerField()),
                ("shares", models.JSONField(default=list)),
                ("joined_share", models.FloatField(default=1.0)),
                ("live", models.BooleanField(default=False)),
                ("answer", models.JSONField(default=list)),
                ("answered_at", models.DateTimeField(null=True)),
                ("motes", models.IntegerField(default=0)),
                ("expected", models.IntegerField(default=0)),
                ("energy_mj", models.FloatField(default=0.0)),
                ("sent_bytes", models.BigIntegerField(default=0)),
                ("mj_per_s", models.FloatField(default=0.0)),
                ("bytes_per_s", models.FloatField(default=0.0)),
                ("measured", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={"ordering": ("name",)},
        ),
        migrations.CreateModel(
            name="NetworkState",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("state", models.JSONField()),
                ("seen_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Placement",
            fields=[
                (
                    "view",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="placement",
                        serialize=False,
                        to="smartcis.maintainedview",
                    ),
                ),
                ("plan_hash", models.CharField(max_length=64)),
                ("running", models.JSONField(default=list)),
                ("running_text", models.TextField(blank=True)),
                ("wanted", models.JSONField(default=list)),
                ("wanted_text", models.TextField(blank=True)),
                ("since", models.DateTimeField(default=django.utils.timezone.now)),
                ("decided_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("why", models.TextField(blank=True)),
                ("costs", models.JSONField(default=dict)),
                ("basis", models.JSONField(default=dict)),
                ("forced", models.BooleanField(default=False)),
                ("trouble", models.TextField(blank=True)),
            ],
            options={"ordering": ("view_id",)},
        ),
    ]
