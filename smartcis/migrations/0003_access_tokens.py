from datetime import timedelta

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.contrib.auth.hashers import is_password_usable
from django.db import migrations, models

FORMER = "knox_authtoken"  # each was a staff token for ever


class FormerToken(models.Model):
    digest = models.CharField(max_length=128, primary_key=True)
    token_key = models.CharField(max_length=25)
    user_id = models.IntegerField()
    created = models.DateTimeField()
    expiry = models.DateTimeField(null=True)

    class Meta:
        app_label = "smartcis_former"
        db_table = FORMER
        managed = False


def take_over_tokens(apps, schema_editor):
    """Gives each former token what it was meant for.

    account of a pushing source        pushes for its sources
    service account without a source   pushes readings
    somebody with a password           what the account may do, for 90 days
    """
    Source = apps.get_model("smartcis", "Source")
    pushing = list(Source.objects.filter(kind="push"))
    connection = schema_editor.connection
    if FORMER in connection.introspection.table_names():
        take_over(apps, pushing)
        schema_editor.execute(f"DROP TABLE {schema_editor.quote_name(FORMER)}")
    for source in pushing:
        source.config.pop("account", None)
        source.save(update_fields=["config"])


def take_over(apps, pushing):
    User = apps.get_model("auth", "User")
    AccessToken = apps.get_model("smartcis", "AccessToken")
    users = {user.pk: user for user in User.objects.all()}
    now = django.utils.timezone.now()
    for old in FormerToken.objects.all():
        user = users[old.user_id]
        sources = [one.pk for one in pushing if one.config.get("account") == user.username]
        person = is_password_usable(user.password) and user.password and not sources
        AccessToken.objects.create(
            name=user.username[:100],
            digest=old.digest,
            begins=old.token_key[:8],
            scope="account" if person else "push",
            sources=sources,
            user=user if person else None,
            made_at=old.created,
            expires_at=old.expiry or now + timedelta(days=90 if person else 365),
        )


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("smartcis", "0002_queries"),
    ]

    operations = [
        migrations.CreateModel(
            name='AccessToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('digest', models.CharField(editable=False, max_length=128, unique=True)),
                ('begins', models.CharField(editable=False, max_length=8)),
                ('scope', models.CharField(choices=[('push', 'push readings, and rows of its sources'), ('metrics', 'read the metrics of operation'), ('account', 'all that its account may do')], default='push', max_length=10)),
                ('sources', models.JSONField(blank=True, default=list)),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(editable=False, null=True)),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('name', 'pk'),
            },
        ),
        migrations.RunPython(take_over_tokens, migrations.RunPython.noop),
    ]
