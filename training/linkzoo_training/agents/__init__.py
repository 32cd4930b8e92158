"""Agents: implementations of `linkzoo.Agent`."""
