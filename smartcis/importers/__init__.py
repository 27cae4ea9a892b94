"""Importers: a drawing becomes a building that people can walk through."""
