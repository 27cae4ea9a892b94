"""In-network execution: fragments as compact messages, run by the motes."""
