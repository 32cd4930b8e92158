"""The games, one folder each, with the same files for the same roles."""
