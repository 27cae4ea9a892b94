"""Simulation: the simulator's kernel tied to the database, the clock and the log."""
