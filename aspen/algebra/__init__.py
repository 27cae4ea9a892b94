"""The plan language: frozen nodes, expressions, plan text both ways, rewrite rules."""
