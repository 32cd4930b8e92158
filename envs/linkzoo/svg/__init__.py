"""SVG as strings, text widths and rasterisation."""
