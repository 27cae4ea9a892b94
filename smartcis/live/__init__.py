"""Live: view deltas from the result store to every open socket, in exact order."""
