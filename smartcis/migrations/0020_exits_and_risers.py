"""Tells the log which walking points are exits, and which steps lead from floor to floor."""

import uuid

from django.db import migrations

AT_ONCE = 2_000


def tell_exits_and_risers(apps, schema_editor):
    """Writes outbox entries with the rows that entrances, stairs and lifts have from now on."""
    nodes = apps.get_model('smartcis', 'RoutingNode').objects.filter(kind='entrance')
    edges = apps.get_model('smartcis', 'RoutingEdge').objects.filter(way__in=('stairs', 'lift'))
    exits = nodes.order_by('node').values_list('node', 'unit_id', 'level_id', 'name', 'x_m', 'y_m')
    steps = edges.order_by('src_id', 'dst_id').values_list('src_id', 'dst_id', 'way')
    changes = [['building_exit', 1, *row] for row in exits]
    changes += [['riser_step', 1, *row] for row in steps]
    entries = apps.get_model('smartcis', 'OutboxEntry')
    for start in range(0, len(changes), AT_ONCE):
        part = changes[start : start + AT_ONCE]
        entries.objects.create(token=str(uuid.uuid4()), body={'changes': part})


class Migration(migrations.Migration):

    dependencies = [
        ('smartcis', '0019_words_faults_bearings_changes'),
    ]

    operations = [
        migrations.RunPython(tell_exits_and_risers, migrations.RunPython.noop),
    ]
