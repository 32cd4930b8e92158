"""Drawings: SVG as strings, the widths of words in it, and its pixels."""
