"""Query nodes that keep one recursive view together, over channels whose bytes are counted."""
