"""REST: the deeds and the tables over HTTP, with an OpenAPI description."""
