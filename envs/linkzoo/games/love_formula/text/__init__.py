"""Moves and positions of Love Formula as text and JSON, both ways."""
