"""Actions: one action per file; API, admin, socket and commands only translate and call them."""
