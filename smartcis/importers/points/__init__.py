"""Points: what a building's own description says of its sensors: kind, unit, room and equipment."""
