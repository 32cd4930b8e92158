"""Adapters for training frameworks; each framework is an extra.

    from linkzoo import integrations

    env = integrations.FeatureEnv("linkage")  # AEC, flat float32 observations
    env = integrations.FeatureSeatEnv("linkage", seat=None)  # gymnasium, one seat
    agent = integrations.FunctionAgent("mine", choose)  # a framework's policy as an agent of ours

Nothing here imports a framework; `integrations.rllib` and `integrations.open_spiel` do.
"""

from linkzoo.core.features import FeatureMap
from linkzoo.envs.gym_vector import SeatVectorEnv
from linkzoo.integrations.advantages import seat_advantages
from linkzoo.integrations.agents import FunctionAgent, OpponentPool
from linkzoo.integrations.envs import FeatureEnv, FeatureSeatEnv
from linkzoo.integrations.vector import FeatureSeatVectorEnv

__all__ = [
    "FeatureEnv",
    "FeatureMap",
    "FeatureSeatEnv",
    "FeatureSeatVectorEnv",
    "FunctionAgent",
    "OpponentPool",
    "SeatVectorEnv",
    "seat_advantages",
]
