"""Exporters: the building as files that other tools read and `smartcis.importers` reads back."""
