"""Games of models for `vf-eval linkzoo-self-play`: a model for each seat, or one for all."""

from linkzoo.integrations.verifiers import ChatHarness, LinkzooTaskset, SelfPlayEnv

__all__ = ["ChatHarness", "LinkzooTaskset", "SelfPlayEnv"]
