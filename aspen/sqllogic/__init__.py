"""sqllogictest scripts, run against the engine."""
