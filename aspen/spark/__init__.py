"""Spark: the data pipeline that keeps every maintained view; the only importer of pyspark."""
