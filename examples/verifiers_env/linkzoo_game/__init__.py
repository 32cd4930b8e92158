"""A seat of a game for `vf-eval linkzoo-game` and `vf-validate linkzoo-game`."""

from linkzoo.integrations.verifiers import ChatHarness, LinkzooEnv, LinkzooTaskset

__all__ = ["ChatHarness", "LinkzooEnv", "LinkzooTaskset"]
