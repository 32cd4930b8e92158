"""Drawings of what a seat, or everybody, sees of Love Formula."""
