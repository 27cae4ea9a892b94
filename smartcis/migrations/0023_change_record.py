"""What was added, changed or removed is a record of the change; `Change` is the log's."""

from django.db import migrations


class Migration(migrations.Migration):
    """Rename the list of changes."""

    dependencies = [("smartcis", "0022_query_pages")]
    operations = [
        migrations.RenameModel("Change", "ChangeRecord"),
        migrations.AlterModelOptions(
            name="changerecord",
            options={
                "ordering": ("-at", "-pk"),
                "verbose_name": "change",
                "verbose_name_plural": "change log",
            },
        ),
    ]
