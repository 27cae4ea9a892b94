"""Alarms keep a key, their history and who has taken note; those that stand go on standing."""

import hashlib
import json
import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


RULE = {
    "keys": [],
    "notify": [],
    "severity": "warning",
    "raise_s": 0.0,
    "clear_s": 0.0,
    "silent_s": None,
    "raise_when": None,
    "clear_when": None,
}


def digest_of(values):
    text = json.dumps(list(values), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def keep_alarms(apps, schema_editor):
    """Gives the alarms of before their whole row as key, which is what told them apart."""
    changes = []
    for outlet in apps.get_model("smartcis", "Outlet").objects.select_related("query__view"):
        raises = any(kind == "ALARM" for kind, _ in outlet.outputs)
        outlet.outputs = [
            [kind, target, RULE if kind == "ALARM" else None] for kind, target in outlet.outputs
        ]
        outlet.save(update_fields=["outputs"])
        width = None if outlet.query.order is None else outlet.query.order["width"]
        names = [name for name, *_ in outlet.query.view.columns][:width]
        for told in outlet.told.all() if raises else ():
            told.key = digest_of(told.row[:width])
            told.save(update_fields=["key"])
            for alarm in outlet.alarms.filter(digest=told.digest):
                alarm.digest, alarm.query = told.key, outlet.query_id
                alarm.key = dict(zip(names, told.row))
                alarm.changed_s = alarm.raised_s
                alarm.save()
                texts = [alarm.query, alarm.name, alarm.target, alarm.kind, alarm.severity]
                times = [alarm.raised_s, alarm.changed_s]
                shown = [alarm.message, None, "", None, None, None]
                row = [alarm.pk, *texts, *shown, *times, False, None, False]
                changes.append(["alarm", 1, *row])
    if changes:  # the relation is declared anew, and its rows of before are gone
        entries = apps.get_model("smartcis", "OutboxEntry")
        entries.objects.create(token=str(uuid.uuid4()), body={"changes": changes})


class Migration(migrations.Migration):

    dependencies = [
        ('smartcis', '0017_intervals_of_slow_sensors'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AlarmEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at_s', models.FloatField()),
                ('what', models.CharField(max_length=120)),
                ('account', models.CharField(blank=True, max_length=150)),
                ('whom', models.CharField(blank=True, max_length=150)),
            ],
            options={
                'ordering': ('at_s', 'pk'),
            },
        ),
        migrations.CreateModel(
            name='WatchedKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('target', models.CharField(blank=True, max_length=80)),
                ('digest', models.CharField(max_length=64)),
                ('about', models.JSONField()),
                ('hot_s', models.FloatField(null=True)),
                ('cool_s', models.FloatField(null=True)),
                ('gone_s', models.FloatField(null=True)),
                ('due_s', models.FloatField(db_index=True, null=True)),
            ],
        ),
        migrations.AlterModelOptions(
            name='alarm',
            options={'base_manager_name': 'objects', 'ordering': ('-raised_s', '-pk')},
        ),
        migrations.RemoveConstraint(
            model_name='alarm',
            name='alarm_once',
        ),
        migrations.AddField(
            model_name='alarm',
            name='acknowledged_by',
            field=models.CharField(blank=True, max_length=150),
        ),
        migrations.AddField(
            model_name='alarm',
            name='acknowledged_s',
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='alarm',
            name='assigned_to',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='alarm',
            name='changed_s',
            field=models.FloatField(default=0),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='alarm',
            name='cleared_s',
            field=models.FloatField(blank=True, db_index=True, null=True),
        ),
        migrations.AddField(
            model_name='alarm',
            name='door_id',
            field=models.CharField(blank=True, max_length=60, verbose_name='door'),
        ),
        migrations.AddField(
            model_name='alarm',
            name='key',
            field=models.JSONField(default={}),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='alarm',
            name='kind',
            field=models.CharField(choices=[('threshold', 'Threshold'), ('no data', 'No Data')], default='threshold', max_length=10),
        ),
        migrations.AddField(
            model_name='alarm',
            name='mid',
            field=models.CharField(blank=True, max_length=60, verbose_name='machine'),
        ),
        migrations.AddField(
            model_name='alarm',
            name='muted_until_s',
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='alarm',
            name='query',
            field=models.CharField(default='', max_length=16),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='alarm',
            name='rid',
            field=models.CharField(blank=True, db_index=True, max_length=60, verbose_name='room'),
        ),
        migrations.AddField(
            model_name='alarm',
            name='severity',
            field=models.CharField(choices=[('info', 'Info'), ('warning', 'Warning'), ('critical', 'Critical')], default='warning', max_length=10),
        ),
        migrations.AddField(
            model_name='alarm',
            name='unit',
            field=models.CharField(blank=True, max_length=20),
        ),
        migrations.AddField(
            model_name='alarm',
            name='value',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='delivery',
            name='alarm',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='delivery',
            name='kind',
            field=models.CharField(default='WEBHOOK', max_length=10),
        ),
        migrations.AddField(
            model_name='toldrow',
            name='key',
            field=models.CharField(blank=True, default='', max_length=64),
        ),
        migrations.AlterField(
            model_name='alarm',
            name='digest',
            field=models.CharField(db_index=True, max_length=64),
        ),
        migrations.AlterField(
            model_name='alarm',
            name='outlet',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='alarms', to='smartcis.outlet'),
        ),
        migrations.AddIndex(
            model_name='toldrow',
            index=models.Index(fields=['outlet', 'key'], name='told_by_key'),
        ),
        migrations.AddConstraint(
            model_name='alarm',
            constraint=models.UniqueConstraint(condition=models.Q(('cleared_s', None)), fields=('outlet', 'target', 'digest', 'kind'), name='alarm_stands_once'),
        ),
        migrations.AddField(
            model_name='alarmevent',
            name='alarm',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='smartcis.alarm'),
        ),
        migrations.AddField(
            model_name='watchedkey',
            name='outlet',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='watched', to='smartcis.outlet'),
        ),
        migrations.AddConstraint(
            model_name='watchedkey',
            constraint=models.UniqueConstraint(fields=('outlet', 'target', 'digest'), name='watched_once'),
        ),
        migrations.RunPython(keep_alarms, migrations.RunPython.noop),
    ]
