"""Boolean annotations: which base rows an answer rests on."""
