"""Compiled code: compiler, cache, threads, random numbers. Knows no game."""
