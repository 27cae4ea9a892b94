"""The state machine that turns log entries into view changes."""
