"""AspEN: one declarative language over sensor devices, streams and tables.

The package knows neither rooms, nor Django, nor radios; see README.md for the code map.
"""
