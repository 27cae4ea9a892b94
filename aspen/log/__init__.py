"""The log: one durable, totally ordered sequence of everything that changes a building."""
