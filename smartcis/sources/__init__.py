"""Sources: wrappers run against the database and the log."""
