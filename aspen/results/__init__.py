"""Results: the snapshot store that the engine's sink writes and the live relay reads."""
