"""A building's sensors and people, simulated: seeded, turned by hand, without an own clock."""
