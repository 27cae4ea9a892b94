"""Views kept current: plans compiled to circuits of incremental operators, and their oracle."""
