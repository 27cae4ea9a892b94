"""Questions about a maintained view: sent through the log, answered in the result store."""
