"""The nouns everything else is written in: schema, delta, epoch, catalog."""
