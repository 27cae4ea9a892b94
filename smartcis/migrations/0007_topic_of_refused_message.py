"""A refused message names the topic it came from."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('smartcis', '0006_shares'),
    ]

    operations = [
        migrations.RenameField('refusedmessage', 'place', 'topic'),
    ]
