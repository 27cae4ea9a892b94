"""Seed: what reality does not tell us, made up reproducibly and marked simulated."""
