"""Placements: pieces of running queries go into the sensor network and come back."""
