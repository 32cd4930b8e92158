"""Linkage, version 0: `env()`, `raw_env()`, `parallel_env()`."""

from linkzoo.envs.constructors import constructors

env, raw_env, parallel_env = constructors("linkage")
