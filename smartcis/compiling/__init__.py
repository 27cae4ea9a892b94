"""Compiling: from the text of a query to the view the engine maintains."""
