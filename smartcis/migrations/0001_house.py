import django.db.models.deletion
import django.utils.timezone
import smartcis.models.source
import smartcis.models.visitors
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('smartcis', '0001_outbox_queries_routes'), ('smartcis', '0002_building'), ('smartcis', '0003_sources'), ('smartcis', '0004_sensor_kinds')]

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Venue',
            fields=[
                ('slug', models.SlugField(max_length=60, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('attribution', models.CharField(blank=True, max_length=300)),
                ('origin_lon_deg', models.FloatField()),
                ('origin_lat_deg', models.FloatField()),
            ],
        ),
        migrations.CreateModel(
            name='Building',
            fields=[
                ('feature_id', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('name', models.CharField(blank=True, max_length=200)),
                ('footprint', models.JSONField(blank=True, default=list)),
                ('venue', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='buildings', to='smartcis.venue')),
            ],
            options={
                'ordering': ('name', 'feature_id'),
            },
        ),
        migrations.CreateModel(
            name='Level',
            fields=[
                ('level_id', models.CharField(max_length=16, primary_key=True, serialize=False, verbose_name='floor id')),
                ('feature_id', models.CharField(max_length=64)),
                ('ordinal', models.IntegerField()),
                ('name', models.CharField(max_length=100)),
                ('short_name', models.CharField(max_length=20)),
                ('outline', models.JSONField(default=list)),
                ('venue', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='levels', to='smartcis.venue')),
            ],
            options={
                'ordering': ('ordinal',),
                'base_manager_name': 'objects',
                'verbose_name': 'floor',
                'verbose_name_plural': 'floors',
            },
        ),
        migrations.CreateModel(
            name='Unit',
            fields=[
                ('rid', models.CharField(max_length=60, primary_key=True, serialize=False, verbose_name='number')),
                ('feature_id', models.CharField(blank=True, max_length=64)),
                ('name', models.CharField(blank=True, max_length=200)),
                ('category', models.CharField(max_length=40)),
                ('polygon', models.JSONField(default=list)),
                ('ground', models.JSONField(default=list)),
                ('label_x_m', models.FloatField()),
                ('label_y_m', models.FloatField()),
                ('area_m2', models.FloatField()),
                ('derived', models.BooleanField(default=False)),
                ('unreached', models.CharField(blank=True, max_length=200)),
                ('level', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='units', to='smartcis.level')),
            ],
            options={
                'ordering': ('level', 'rid'),
                'base_manager_name': 'objects',
                'verbose_name': 'room or corridor',
                'verbose_name_plural': 'rooms and corridors',
            },
        ),
        migrations.CreateModel(
            name='Door',
            fields=[
                ('door_id', models.CharField(max_length=70, primary_key=True, serialize=False, verbose_name='door')),
                ('x_m', models.FloatField()),
                ('y_m', models.FloatField()),
                ('state', models.CharField(choices=[('open', 'open'), ('locked', 'locked')], default='open', max_length=8)),
                ('derived', models.BooleanField(default=True)),
                ('level', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='doors', to='smartcis.level')),
                ('inner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='doors', to='smartcis.unit')),
                ('outer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='doors_into_others', to='smartcis.unit')),
            ],
            options={
                'ordering': ('level', 'door_id'),
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='RoutingNode',
            fields=[
                ('node', models.BigIntegerField(primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('centre', 'centre'), ('turn', 'turn'), ('door', 'door'), ('opening', 'opening'), ('entrance', 'entrance'), ('desk', 'desk')], max_length=10)),
                ('name', models.CharField(blank=True, max_length=100)),
                ('x_m', models.FloatField()),
                ('y_m', models.FloatField()),
                ('derived', models.BooleanField(default=True)),
                ('simulated', models.BooleanField(default=False)),
                ('level', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='nodes', to='smartcis.level')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='nodes', to='smartcis.unit')),
            ],
            options={
                'ordering': ('node',),
                'base_manager_name': 'objects',
                'verbose_name': 'walking point',
                'verbose_name_plural': 'walking points',
            },
        ),
        migrations.CreateModel(
            name='RoutingEdge',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('length_mm', models.PositiveIntegerField()),
                ('step_free', models.BooleanField(default=True)),
                ('way', models.CharField(choices=[('walk', 'walk'), ('door', 'door'), ('stairs', 'stairs'), ('lift', 'lift'), ('entrance', 'entrance')], default='walk', max_length=8)),
                ('simulated', models.BooleanField(default=False)),
                ('door', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='edges', to='smartcis.door')),
                ('dst', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='arriving', to='smartcis.routingnode')),
                ('src', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='leaving', to='smartcis.routingnode')),
            ],
            options={
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('src', 'dst'), name='one_edge_per_direction'), models.CheckConstraint(condition=models.Q(('length_mm__gte', 1)), name='edge_has_length')],
                'verbose_name': 'step between points',
                'verbose_name_plural': 'steps between points',
            },
        ),
        migrations.CreateModel(
            name='Desk',
            fields=[
                ('desk_id', models.CharField(max_length=70, primary_key=True, serialize=False)),
                ('x_m', models.FloatField()),
                ('y_m', models.FloatField()),
                ('simulated', models.BooleanField(default=True)),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='desks', to='smartcis.routingnode', verbose_name='walking point')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='desks', to='smartcis.unit', verbose_name='room')),
            ],
            options={
                'ordering': ('desk_id',),
            },
        ),
        migrations.CreateModel(
            name='Machine',
            fields=[
                ('mid', models.CharField(max_length=70, primary_key=True, serialize=False, verbose_name='id')),
                ('host', models.CharField(max_length=100)),
                ('x_m', models.FloatField()),
                ('y_m', models.FloatField()),
                ('cpu_type', models.CharField(blank=True, max_length=100, verbose_name='processor')),
                ('simulated', models.BooleanField(default=True)),
                ('desk', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='machine', to='smartcis.desk')),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='machines', to='smartcis.routingnode', verbose_name='walking point')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='machines', to='smartcis.unit', verbose_name='room')),
            ],
            options={
                'ordering': ('mid',),
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='Source',
            fields=[
                ('source', models.SlugField(max_length=60, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('kind', models.CharField(choices=[('mqtt', 'MQTT broker'), ('calendar', 'iCalendar'), ('pdu', 'Power distribution unit (web page)'), ('software', 'Software list (web page)'), ('table', 'Table of another database'), ('push', 'Gateway that pushes (HTTP with token)'), ('host', 'This computer (soft sensors)'), ('engine', 'AspEN itself')], db_index=True, max_length=20)),
                ('config', models.JSONField(blank=True, default=dict)),
                ('period_s', models.FloatField(default=60.0)),
                ('enabled', models.BooleanField(default=True)),
                ('added_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('machine', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='sources', to='smartcis.machine')),
                ('unit', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='sources', to='smartcis.unit', verbose_name='room')),
            ],
            options={
                'ordering': ('source',),
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='SourceState',
            fields=[
                ('source', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='state', serialize=False, to='smartcis.source')),
                ('asked_s', models.FloatField(default=0.0)),
                ('since_s', models.FloatField(default=0.0)),
                ('heard_s', models.FloatField(default=0.0)),
                ('beat_s', models.FloatField(default=0.0)),
                ('reason', models.CharField(blank=True, max_length=300)),
                ('warnings', models.JSONField(default=list)),
                ('memory', models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name='SourceRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('relation', models.CharField(max_length=60)),
                ('key', models.CharField(max_length=300)),
                ('row', models.JSONField()),
                ('source', models.ForeignKey(on_delete=smartcis.models.source.cascade_at_once, related_name='held', to='smartcis.source')),
            ],
            options={
                'ordering': ('source', 'relation', 'key'),
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('source', 'relation', 'key'), name='held_once')],
            },
        ),
        migrations.CreateModel(
            name='SoftwareInstall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('software', models.CharField(db_index=True, max_length=120)),
                ('simulated', models.BooleanField(default=True)),
                ('machine', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='software', to='smartcis.machine')),
                ('source', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='software', to='smartcis.source')),
            ],
            options={
                'ordering': ('machine', 'software'),
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('machine', 'software'), name='installed_once')],
                'verbose_name': 'program on a machine',
                'verbose_name_plural': 'programs on machines',
            },
        ),
        migrations.CreateModel(
            name='Kiosk',
            fields=[
                ('kiosk_id', models.SlugField(max_length=60, primary_key=True, serialize=False, verbose_name='id')),
                ('name', models.CharField(max_length=100)),
                ('simulated', models.BooleanField(default=True)),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='kiosks', to='smartcis.routingnode', verbose_name='walking point')),
            ],
            options={
                'ordering': ('name',),
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='Sensor',
            fields=[
                ('sid', models.CharField(max_length=80, primary_key=True, serialize=False, verbose_name='id')),
                ('kind', models.CharField(db_index=True, max_length=20)),
                ('x_m', models.FloatField()),
                ('y_m', models.FloatField()),
                ('simulated', models.BooleanField(default=True)),
                ('enabled', models.BooleanField(default=True)),
                ('waveform', models.CharField(choices=[('people', 'follows the simulated people'), ('constant', 'constant value'), ('sine', 'sine wave'), ('square', 'on and off'), ('random_walk', 'random walk'), ('replay', 'recorded series'), ('nab_temperature', 'recorded: office temperature (NAB, hourly)'), ('uci_temperature', 'recorded: office temperature (UCI, by the minute)'), ('uci_light', 'recorded: office light (UCI, by the minute)')], default='constant', max_length=20, verbose_name='simulated as')),
                ('parameters', models.JSONField(blank=True, default=dict)),
                ('period_s', models.FloatField(default=10.0, verbose_name='interval (s)')),
                ('updated_at', models.DateTimeField(auto_now=True, db_index=True)),
                ('level', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sensors', to='smartcis.level')),
                ('machine', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='sensors', to='smartcis.machine')),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sensors', to='smartcis.routingnode')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sensors', to='smartcis.unit', verbose_name='room')),
            ],
            options={
                'ordering': ('sid',),
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='RegionSeed',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('region_id', models.CharField(max_length=40)),
                ('simulated', models.BooleanField(default=True)),
                ('sensor', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='seeds', to='smartcis.sensor')),
            ],
            options={
                'ordering': ('region_id', 'sensor'),
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('region_id', 'sensor'), name='seeded_once')],
                'verbose_name': 'start of an active region',
                'verbose_name_plural': 'starts of active regions',
            },
        ),
        migrations.CreateModel(
            name='Reservation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('start', models.DateTimeField(db_index=True)),
                ('end', models.DateTimeField(db_index=True)),
                ('title', models.CharField(max_length=200)),
                ('simulated', models.BooleanField(default=False)),
                ('uid', models.CharField(blank=True, max_length=300)),
                ('source', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='reservations', to='smartcis.source')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reservations', to='smartcis.unit', verbose_name='room')),
            ],
            options={
                'ordering': ('start', 'unit'),
                'base_manager_name': 'objects',
                'constraints': [models.CheckConstraint(condition=models.Q(('end__gt', models.F('start'))), name='reservation_has_duration')],
            },
        ),
        migrations.CreateModel(
            name='Visitor',
            fields=[
                ('tag', models.CharField(max_length=40, primary_key=True, serialize=False)),
                ('consent', models.CharField(choices=[('hidden', 'hidden: nothing'), ('counted', 'counted: only in numbers of three or more'), ('room', 'room: the room, under a name that changes daily'), ('exact', 'exact: the place, under a name that changes daily')], default='hidden', max_length=8)),
                ('pseudonym', models.CharField(default=smartcis.models.visitors.mint_pseudonym, max_length=20, unique=True)),
                ('named_on', models.DateField(db_index=True, default=django.utils.timezone.localdate)),
                ('code', models.CharField(default=smartcis.models.visitors.mint_code, max_length=32, unique=True)),
                ('speed_m_s', models.FloatField(default=1.2)),
                ('simulated', models.BooleanField(default=True)),
                ('enabled', models.BooleanField(default=True)),
                ('updated_at', models.DateTimeField(auto_now=True, db_index=True)),
            ],
            options={
                'ordering': ('tag',),
                'base_manager_name': 'objects',
            },
        ),
    ]
