"""RLlib: an env runner that plays many games in lock-step, one seat of each.

    config = (
        PPOConfig()
        .environment(FeatureSeatVectorEnv, env_config={"game": "linkage", "seat": None})
        .env_runners(env_runner_cls=SeatEnvRunner, num_envs_per_env_runner=512)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedModule))
    )

RLlib's own runner keeps lists for every game and runs its connectors over them at every step. Here
a step is one call of the environment and one of the network, and episodes are cut from the arrays
at the end. Needs the extra `rllib`.
"""

from copy import deepcopy
from typing import Any
from uuid import uuid4

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.core.columns import Columns
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.utils.metrics import WEIGHTS_SEQ_NO

from linkzoo.core.agent import RandomAgent
from linkzoo.integrations.agents import FunctionAgent, OpponentPool
from linkzoo.integrations.vector import FeatureSeatVectorEnv

Arrays = dict[str, NDArray[Any]]
KEYS = ("observation", "action_mask")


class SeatEnvRunner(SingleAgentEnvRunner):
    """Collects episodes of one seat, for modules such as MaskedModule.

    `env_config` holds `game` and any other argument of FeatureSeatVectorEnv; an illegal action
    raises ValueError. Unless it names an `opponent`, `opponents` play the other seats, a
    pool that begins with random play; `add_opponent` adds the module as it is:

        algorithm.env_runner_group.foreach_env_runner(lambda runner: runner.add_opponent())

    Connectors between environment and module aren't run, nor are callbacks on single episodes.
    """

    def make_env(self) -> None:
        """Makes the games; RLlib calls it."""
        self.opponents = OpponentPool([RandomAgent()])
        settings = {"opponent": self.opponents, **self.config.env_config}
        self.num_envs = self.config.num_envs_per_env_runner
        self.env = FeatureSeatVectorEnv(
            num_envs=self.num_envs, keys=KEYS, illegal="raise", **settings
        )
        self._run_seed = self.config.seed
        if self._run_seed is not None:  # every runner plays other games
            self._run_seed += 10_000 * (self.worker_index or 0)
        self._needs_initial_reset = True

    def add_opponent(self) -> None:
        """Adds the module, as it is now, to the opponents; nothing in a runner without games."""
        if self.env is not None:
            frozen = deepcopy(self.module)
            self.opponents.add(FunctionAgent(f"rllib-{self._weights_seq_no}", frozen.act))

    def _reset_envs_and_episodes(self, _explore: bool) -> None:
        self._seen, _ = self.env.reset(seed=self._run_seed)
        self._run_seed = None
        self._ids = [uuid4().hex for _ in range(self.num_envs)]
        self._lengths = np.zeros(self.num_envs, np.int64)  # of the episodes under way
        self._needs_initial_reset = False

    def _sample(
        self,
        *,
        num_timesteps: int | None = None,
        num_episodes: int | None = None,
        explore: bool,
        random_actions: bool = False,
        force_reset: bool = False,
    ) -> list[SingleAgentEpisode]:
        if force_reset or num_episodes is not None or self._needs_initial_reset:
            self._reset_envs_and_episodes(explore)
        frames: list[Arrays] = []
        finals: list[Any] = []  # the last observations of games, by frame
        ended = 0

        def enough() -> bool:
            if num_timesteps is not None:
                return bool(len(frames) * self.num_envs >= num_timesteps)
            return ended >= (num_episodes or 0)

        while not enough():
            frame = {**self._seen, **self._act(explore, random_actions)}
            self._seen, reward, over, _, infos = self.env.step(frame[Columns.ACTIONS])
            frames.append({**frame, "reward": reward, "over": over})
            finals.append(infos.get("final_obs"))
            ended += int(over.sum())
        done, going = self._cut(frames, finals)
        self._done_episodes_for_metrics.extend(done)
        if num_episodes is not None:
            self._needs_initial_reset = True
            going = []
        for episode in going:
            self._ongoing_episodes_for_metrics[episode.id_].append(episode)
        steps = len(frames) * self.num_envs
        self._log_env_steps(metric=self._metrics_num_env_steps_sampled, num_steps=steps)
        self._increase_sampled_metrics(steps, len(done))
        return done + going

    def _act(self, explore: bool, random_actions: bool) -> Arrays:
        """Returns the module's actions in all games, with log-probabilities for the learner."""
        mask = self._seen["action_mask"]
        if random_actions:
            drawn = self.env.np_random.random(mask.shape, np.float32)
            return {Columns.ACTIONS: np.where(mask == 1, drawn, -1).argmax(1)}
        seen = {
            key: torch.from_numpy(values).to(self._device) for key, values in self._seen.items()
        }
        module = self.module
        forward = module.forward_inference
        if explore:
            forward = module.forward_exploration
        outputs = forward({Columns.OBS: seen})
        if Columns.ACTIONS in outputs:
            return {Columns.ACTIONS: np.asarray(outputs[Columns.ACTIONS])}
        logits = outputs[Columns.ACTION_DIST_INPUTS]
        if not explore:
            return {Columns.ACTIONS: logits.argmax(-1).cpu().numpy()}
        policy = module.get_exploration_action_dist_cls().from_logits(logits)
        actions = policy.sample()
        return {
            Columns.ACTIONS: actions.cpu().numpy(),
            Columns.ACTION_LOGP: policy.logp(actions).cpu().numpy(),
            Columns.ACTION_DIST_INPUTS: logits.cpu().numpy(),
        }

    def _cut(
        self, frames: list[Arrays], finals: list[Any]
    ) -> tuple[list[SingleAgentEpisode], list[SingleAgentEpisode]]:
        """Returns the episodes that ended in these frames, and the episodes under way."""
        done: list[SingleAgentEpisode] = []
        going: list[SingleAgentEpisode] = []
        if not frames:
            return done, going
        arrays = {key: np.stack([frame[key] for frame in frames]) for key in frames[0]}
        for game in range(self.num_envs):
            first = 0
            for last in np.flatnonzero(arrays["over"][:, game]).tolist():
                after = finals[last][game]
                done.append(self._episode(arrays, game, first, last + 1, after, True))
                self._ids[game] = uuid4().hex
                self._lengths[game] = 0
                first = last + 1
            if first < len(frames):
                after = {key: values[game] for key, values in self._seen.items()}
                going.append(self._episode(arrays, game, first, len(frames), after, False))
                self._lengths[game] += len(frames) - first
        return done, going

    def _episode(
        self, arrays: Arrays, game: int, first: int, last: int, after: Arrays, over: bool
    ) -> SingleAgentEpisode:
        """Returns decisions `first`..`last - 1` of a game, with the observation after them."""
        part = {key: values[first:last, game] for key, values in arrays.items()}
        kept = (Columns.ACTION_LOGP, Columns.ACTION_DIST_INPUTS)
        extra = {key: part[key] for key in kept if key in part}
        extra[WEIGHTS_SEQ_NO] = np.full(last - first, self._weights_seq_no)
        return SingleAgentEpisode(
            id_=self._ids[game],
            observations={key: np.concatenate([part[key], after[key][None]]) for key in KEYS},
            infos=[{} for _ in range(last - first + 1)],
            actions=part[Columns.ACTIONS],
            rewards=part["reward"],
            terminated=over,
            observation_space=self.env.single_observation_space,
            action_space=self.env.single_action_space,
            extra_model_outputs=extra,
            t_started=int(self._lengths[game]),
            len_lookback_buffer=0,
        )
