"""The same graphs, queries and changes for this engine, for its peers, and for recomputing."""
