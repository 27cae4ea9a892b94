"""The radio network: links, energy, clocks, the collection tree and what travels over it."""
