import django.db.models.deletion
import django.utils.timezone
import smartcis.models.queries
import smartcis.models.routes
import smartcis.models.source
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('smartcis', '0005_placements'), ('smartcis', '0006_answers_given'), ('smartcis', '0007_visitors_consent')]  # 0008 and 0009 changed no column

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('smartcis', '0001_house'),
    ]

    operations = [
        migrations.CreateModel(
            name='OutboxEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(db_index=True, max_length=36)),
                ('body', models.JSONField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('position', models.BigIntegerField(db_index=True, null=True)),
            ],
            options={
                'verbose_name_plural': 'outbox entries',
                'ordering': ('id',),
            },
        ),
        migrations.CreateModel(
            name='LogLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('identity', models.CharField(max_length=64)),
                ('declared', models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name='RouteRequest',
            fields=[
                ('session', models.CharField(default=smartcis.models.routes.mint_session, max_length=32, primary_key=True, serialize=False)),
                ('browser', models.CharField(db_index=True, max_length=40)),
                ('node', models.BigIntegerField()),
                ('software', models.CharField(max_length=120)),
                ('step_free', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('last_seen', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
            ],
            options={
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='MaintainedView',
            fields=[
                ('name', models.CharField(max_length=80, primary_key=True, serialize=False)),
                ('sql', models.TextField()),
                ('plan_text', models.TextField()),
                ('plan_hash', models.CharField(db_index=True, max_length=64)),
                ('strategy', models.CharField(max_length=40)),
                ('columns', models.JSONField()),
                ('sources', models.JSONField()),
                ('standing', models.BooleanField(default=False)),
                ('named', models.BooleanField(default=False)),
                ('kept', models.BooleanField(default=False)),
                ('comment', models.CharField(blank=True, max_length=300)),
                ('private', models.BooleanField(default=False)),
                ('error', models.JSONField(blank=True, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('order', models.BigIntegerField(db_index=True, default=0)),
            ],
            options={
                'ordering': ('order',),
            },
        ),
        migrations.CreateModel(
            name='MaintainedQuery',
            fields=[
                ('id', models.CharField(default=smartcis.models.queries.mint_query_id, max_length=16, primary_key=True, serialize=False)),
                ('name', models.CharField(blank=True, max_length=80)),
                ('sql', models.TextField()),
                ('browser', models.CharField(blank=True, db_index=True, max_length=40)),
                ('order', models.JSONField(blank=True, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('view', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='queries', to='smartcis.maintainedview')),
            ],
            options={
                'verbose_name_plural': 'maintained queries',
                'ordering': ('-created_at',),
            },
        ),
        migrations.CreateModel(
            name='NetworkPiece',
            fields=[
                ('name', models.CharField(max_length=20, primary_key=True, serialize=False)),
                ('declaration', models.JSONField()),
                ('plan_text', models.TextField()),
                ('replaces_text', models.TextField()),
                ('period_s', models.FloatField()),
                ('method', models.CharField(max_length=12)),
                ('keys', models.IntegerField()),
                ('shares', models.JSONField(default=list)),
                ('joined_share', models.FloatField(default=1.0)),
                ('live', models.BooleanField(default=False)),
                ('answer', models.JSONField(default=list)),
                ('answered_at', models.DateTimeField(null=True)),
                ('motes', models.IntegerField(default=0)),
                ('expected', models.IntegerField(default=0)),
                ('energy_mj', models.FloatField(default=0.0)),
                ('sent_bytes', models.BigIntegerField(default=0)),
                ('mj_per_s', models.FloatField(default=0.0)),
                ('bytes_per_s', models.FloatField(default=0.0)),
                ('measured', models.JSONField(default=dict)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='NetworkState',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.JSONField()),
                ('seen_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Placement',
            fields=[
                ('view', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='placement', serialize=False, to='smartcis.maintainedview')),
                ('plan_hash', models.CharField(max_length=64)),
                ('running', models.JSONField(default=list)),
                ('running_text', models.TextField(blank=True)),
                ('wanted', models.JSONField(default=list)),
                ('wanted_text', models.TextField(blank=True)),
                ('since', models.DateTimeField(default=django.utils.timezone.now)),
                ('decided_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('why', models.TextField(blank=True)),
                ('costs', models.JSONField(default=dict)),
                ('basis', models.JSONField(default=dict)),
                ('forced', models.BooleanField(default=False)),
                ('trouble', models.TextField(blank=True)),
            ],
            options={
                'ordering': ('view_id',),
            },
        ),
        migrations.CreateModel(
            name='Outlet',
            fields=[
                ('query', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='outlet', serialize=False, to='smartcis.maintainedquery')),
                ('outputs', models.JSONField()),
                ('epoch', models.BigIntegerField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='ToldRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64)),
                ('row', models.JSONField()),
                ('weight', models.IntegerField()),
                ('outlet', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='told', to='smartcis.outlet')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('outlet', 'digest'), name='told_once')],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=120, unique=True)),
                ('target', models.CharField(max_length=500)),
                ('epoch', models.BigIntegerField()),
                ('position', models.BigIntegerField()),
                ('at_s', models.FloatField()),
                ('row', models.JSONField()),
                ('weight', models.IntegerField()),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('delivered', 'Delivered'), ('given_up', 'Given Up')], default='pending', max_length=10)),
                ('attempts', models.IntegerField(default=0)),
                ('due_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now, null=True)),
                ('settled_at', models.DateTimeField(null=True)),
                ('fault', models.CharField(blank=True, max_length=300)),
                ('outlet', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='smartcis.outlet')),
            ],
            options={
                'verbose_name_plural': 'deliveries',
                'ordering': ('pk',),
            },
        ),
        migrations.CreateModel(
            name='Alarm',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64)),
                ('name', models.CharField(max_length=80)),
                ('target', models.CharField(blank=True, max_length=80)),
                ('message', models.CharField(max_length=500)),
                ('raised_s', models.FloatField()),
                ('outlet', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='alarms', to='smartcis.outlet')),
            ],
            options={
                'ordering': ('-raised_s', 'pk'),
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('outlet', 'digest', 'target'), name='alarm_once')],
            },
        ),
        migrations.CreateModel(
            name='OwnRelation',
            fields=[
                ('name', models.CharField(max_length=60, primary_key=True, serialize=False)),
                ('declaration', models.JSONField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='own_relations', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='OwnRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64)),
                ('digest', models.CharField(db_index=True, max_length=64)),
                ('row', models.JSONField()),
                ('relation', models.ForeignKey(on_delete=smartcis.models.source.cascade_at_once, related_name='held', to='smartcis.ownrelation')),
            ],
            options={
                'ordering': ('pk',),
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('relation', 'key'), name='own_row_once')],
            },
        ),
        migrations.CreateModel(
            name='StaffAccess',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.CharField(max_length=150)),
                ('how', models.CharField(max_length=20)),
                ('what', models.CharField(max_length=2000)),
                ('at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('last_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('times', models.PositiveIntegerField(default=1)),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-at',),
                'verbose_name': 'look of staff at visitors',
                'verbose_name_plural': 'looks of staff at visitors',
            },
        ),
    ]
