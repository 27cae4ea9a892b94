"""REST: the actions and the tables over HTTP, with an OpenAPI description."""
