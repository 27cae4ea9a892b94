"""Walks to any destination, which keep their target; doors that say since when."""

import time
import uuid

import django.core.validators
from django.db import migrations, models


SHIPPED = (
    ('exit', 'Way out', 'Ausgang', 'exit, emergency exit, entrance, outside, Eingang, Notausgang, raus', False, 10, """\
SELECT DISTINCT n.rid, n.node
FROM routing_node n JOIN routing_edge e ON e.dst = n.node
WHERE e.way = 'entrance'"""),
    ('toilet', 'Toilet', 'Toilette', 'WC, restroom, bathroom, lavatory, loo, Klo', False, 20, """\
SELECT n.rid, n.node
FROM room r JOIN routing_node n ON n.rid = r.rid
WHERE r.category LIKE 'restroom%'"""),
    ('step-free-toilet', 'Toilet, step-free way', 'Toilette, stufenloser Weg',
     'accessible toilet, wheelchair, disabled, barrier-free, barrierefrei, Rollstuhl, WC', True, 30, """\
SELECT n.rid, n.node
FROM room r JOIN routing_node n ON n.rid = r.rid
WHERE r.category LIKE 'restroom%'"""),
    ('quiet-room', 'Quiet free room', 'Ruhiger freier Raum', 'silent, study, empty room, leer, still, lernen', False, 40, """\
SELECT n.rid, n.node
FROM room_state s JOIN routing_node n ON n.rid = s.rid
WHERE s.state = 'open'
  AND EXISTS (SELECT 1 FROM machine m WHERE m.rid = s.rid)
  AND NOT EXISTS (
    SELECT 1 FROM machine m JOIN machine_in_use u ON u.mid = m.mid WHERE m.rid = s.rid
  )"""),
)


def begin(apps, schema_editor):
    """Ships destinations, and tells the log of the doors."""
    destinations = apps.get_model('smartcis', 'Destination')
    for slug, name, name_de, words, step_free, position, sql in SHIPPED:
        destinations.objects.create(
            slug=slug, name=name, name_de=name_de, words=words, step_free=step_free,
            position=position, sql=sql,
        )
    if not apps.get_model('smartcis', 'LogLink').objects.exists():
        return  # a log that is new is told everything
    # The engine drops the rows of a relation that gets another shape: requests of walks begin anew.
    changes = [
        ['door', 1, one.door_id, one.state, one.x_m, one.y_m, one.level_id, one.since_s]
        for one in apps.get_model('smartcis', 'Door').objects.order_by('pk')
    ]
    apps.get_model('smartcis', 'OutboxEntry').objects.create(
        token=str(uuid.uuid4()), body={'changes': changes}
    )


def forget_walks(apps, schema_editor):
    """Forgets the walks that are asked for: their pages ask again."""
    apps.get_model('smartcis', 'RouteRequest').objects.all().delete()


class Migration(migrations.Migration):

    dependencies = [
        ('smartcis', '0020_exits_and_risers'),
    ]

    operations = [
        migrations.CreateModel(
            name='Destination',
            fields=[
                ('slug', models.CharField(help_text='for addresses and requests: small letters, digits and hyphens', max_length=40, primary_key=True, serialize=False, validators=[django.core.validators.RegexValidator('^[a-z][a-z0-9]*(-[a-z0-9]+)*$', 'small letters, digits, -')])),
                ('name', models.CharField(help_text='what visitors choose', max_length=80)),
                ('name_de', models.CharField(blank=True, max_length=80, verbose_name='name in German')),
                ('words', models.CharField(blank=True, help_text='by which it is found, in any language, separated by commas', max_length=300, verbose_name='other words')),
                ('sql', models.TextField(help_text='StreamSQL with the columns rid and node, and mid where it leads to machines', verbose_name='query')),
                ('step_free', models.BooleanField(default=False, verbose_name='always step-free')),
                ('position', models.PositiveSmallIntegerField(default=100, help_text='small numbers come first')),
                ('error', models.JSONField(blank=True, editable=False, null=True)),
            ],
            options={
                'ordering': ('position', 'slug'),
            },
        ),
        migrations.RunPython(forget_walks, migrations.RunPython.noop),
        migrations.RenameField(
            model_name='routerequest',
            old_name='software',
            new_name='goal',
        ),
        migrations.AddField(
            model_name='door',
            name='since_s',
            field=models.FloatField(default=time.time, editable=False),
        ),
        migrations.AddField(
            model_name='routerequest',
            name='cost_mm',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='routerequest',
            name='doors',
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AlterField(
            model_name='routerequest',
            name='goal',
            field=models.CharField(max_length=140),
        ),
        migrations.AddField(
            model_name='routerequest',
            name='since_s',
            field=models.FloatField(default=0.0),
        ),
        migrations.AddField(
            model_name='routerequest',
            name='target',
            field=models.CharField(blank=True, default='', max_length=70),
        ),
        migrations.AddField(
            model_name='routerequest',
            name='told',
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.CreateModel(
            name='RouteRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('gain_pct', models.FloatField(default=15.0, validators=[django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(100.0)])),
                ('gain_mm', models.PositiveIntegerField(default=20000)),
            ],
            options={
                'verbose_name': 'rule for changing the target of a way',
                'verbose_name_plural': 'rules for changing the target of a way',
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [models.CheckConstraint(condition=models.Q(('pk', 1)), name='one_route_rule')],
            },
        ),
        migrations.RunPython(begin, migrations.RunPython.noop),
    ]
