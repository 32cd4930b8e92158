"""The games on a GPU: most of it is proven without one."""
