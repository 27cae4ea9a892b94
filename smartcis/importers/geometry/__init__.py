"""From shapes to a walking graph: pure functions in metres, without Django."""
