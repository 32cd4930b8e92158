"""What the `linkzoo` command does; `cli` parses, a module each does it."""
