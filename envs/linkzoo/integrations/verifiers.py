"""verifiers: games as its environments, for one seat or in self-play; a taskset, and a harness.

A package exports an environment, the taskset and the harness for `vf-eval` and `vf-validate`
(`examples/verifiers_env`). Needs the extra `verifiers`.
"""

from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from itertools import count
from typing import Any

import httpx
import numpy as np
import verifiers.v1 as vf
from pydantic import Field

from linkzoo.text.env import TextEnv

_TIMEOUT = 3600.0  # seconds for an answer; verifiers' own limits are shorter


class LinkzooConfig(vf.TasksetConfig):
    """Which game is played, under `--env.taskset.*`: the arguments of `TextEnv`."""

    game: str = "linkage"
    """The game's name, `module:name` or `FILE.py:name`."""
    num_players: int | None = None
    """The number of players; None for the game's smallest."""
    seat: int | None = None
    """The model's seat; None for another one each game. Self-play takes all seats."""
    opponent: str | None = None
    """Plays the other seats, a name such as `greedy`; None for random play."""
    max_illegal: int = 3
    """The number of illegal answers in a game that get a warning."""
    illegal_cost: float = 0.0
    """The penalty for each illegal answer."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the game."""


class LinkzooData(vf.TaskData):
    """A game: the arguments of `TextEnv`, and the seed."""

    arguments: dict[str, Any]
    seed: int

    def make(self) -> TextEnv:
        """Returns the environment, before its `reset`."""
        return TextEnv(**self.arguments, rules="none")


class LinkzooTask(vf.Task[LinkzooData, vf.State, vf.TaskConfig]):
    """A game; LinkzooEnv pays for it."""

    async def validate(self, runtime: vf.Runtime) -> bool:  # noqa: ARG002  # verifiers' signature
        """Returns whether the game can be played to its end in text, by its first legal moves."""
        env = self.data.make()
        valid: bool = env.reset(self.data.seed) == self.data.prompt
        done = False
        while not done:
            game = env.text_game
            action = int(game.positions.action_mask[0].argmax())
            step = env.step(game.game.notation.action_to_text(game.state, action))
            valid = valid and step.legal
            done = step.done
        return valid


class LinkzooTaskset(vf.Taskset[LinkzooTask, LinkzooConfig]):
    """A game for each seed from 0 on, without end."""

    INFINITE = True

    def load(self) -> Iterator[LinkzooTask]:
        """Yields games; the rules are the system's message, and the first prompt the user's."""
        shared = set(vf.TasksetConfig.model_fields) | {"options"}
        arguments = self.config.model_dump(exclude=shared) | self.config.options
        env = LinkzooData(arguments=arguments, seed=0).make()
        for seed in count():
            prompt = env.reset(seed)
            data = LinkzooData(
                name=f"{self.config.game}#{seed}",
                system_prompt=env.text_game.rules(),
                prompt=prompt,
                arguments=arguments,
                seed=seed,
            )
            yield LinkzooTask(data, self.config.task)


def _agent() -> vf.AgentConfig:
    return vf.AgentConfig(runtime=vf.SubprocessConfig())


class LinkzooEnvConfig(vf.EnvConfig):
    """The model that plays is `--env.player.*`."""

    player: vf.AgentConfig = _agent()


class LinkzooEnv(vf.Env[LinkzooEnvConfig]):
    """A conversation about one game; its reward `game` is the sum of TextEnv's rewards."""

    async def run(self, task: LinkzooTask, agents: vf.Agents) -> None:
        """Plays the game; one that the model leaves early is paid like an illegal answer's end."""
        await _play(task, task.data.make(), lambda _: agents.player)


class SelfPlayConfig(vf.EnvConfig):
    """The models of the seats are `--env.seat_0.*` and so on: the run's model where none is set.

    verifiers wants to know its agents before the game: a game has eight seats at most.
    """

    seat_0: vf.AgentConfig = _agent()
    seat_1: vf.AgentConfig = _agent()
    seat_2: vf.AgentConfig = _agent()
    seat_3: vf.AgentConfig = _agent()
    seat_4: vf.AgentConfig = _agent()
    seat_5: vf.AgentConfig = _agent()
    seat_6: vf.AgentConfig = _agent()
    seat_7: vf.AgentConfig = _agent()


class SelfPlayEnv(vf.Env[SelfPlayConfig]):
    """A game of models, with a conversation for each seat: a trace of its own, from its own view.

    The traces' agents are `seat_0` and so on, so that trainers compare a seat's rewards with those
    of the same seat. A trace's reward `game` is the sum of its seat's rewards.
    """

    async def run(self, task: LinkzooTask, agents: vf.Agents) -> None:
        """Plays the game; a model that leaves early is paid like an illegal answer's end."""
        env = task.data.model_copy(
            update={"arguments": task.data.arguments | {"seat": "all"}}
        ).make()
        await _play(task, env, lambda seat: getattr(agents, f"seat_{seat}"))


async def _play(task: LinkzooTask, env: TextEnv, agent_of: Callable[[int], vf.Agent]) -> None:
    """Plays a task's game in a conversation for each of the models' seats that has to answer."""
    unasked = LinkzooTask(task.data.model_copy(update={"prompt": None}), task.config)
    message = env.reset(task.data.seed)
    talks: dict[int, vf.Interaction] = {}
    rewards = np.zeros(len(env.text_game.payoffs))
    answers = np.zeros(len(rewards))
    legal = np.zeros(len(rewards))
    done = False
    async with AsyncExitStack() as stack:
        while not done:
            seat = env.seat
            if seat not in talks:
                talk = agent_of(seat).interaction(unasked)
                talks[seat] = await stack.enter_async_context(talk)
            segment = await talks[seat].turn(message)
            if segment.terminated:
                rewards[seat] -= 1
                break
            step = env.step(segment.last_reply)
            rewards += step.rewards
            answers[seat] += 1
            legal[seat] += step.legal
            message = step.message
            done = step.done
        for seat, talk in talks.items():
            talk.trace.record_reward("game", float(rewards[seat]))
            talk.trace.record_metric("legal", float(legal[seat] / max(answers[seat], 1)))


class ChatHarnessConfig(vf.HarnessConfig):
    """ChatHarness has no settings of its own."""


class ChatHarness(vf.Harness[ChatHarnessConfig]):
    """Asks the model once a turn, in this process: no program is installed or started."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,  # noqa: ARG002  # verifiers' signature
        runtime: vf.Runtime,  # noqa: ARG002  # verifiers' signature
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],  # noqa: ARG002  # verifiers' signature
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Sends the conversation to the model; verifiers keeps the answer."""
        system, prompt = self.resolve_prompt(data)
        messages = []
        if system:
            messages.append({"role": "system", "content": system})
        if isinstance(prompt, str):
            messages.append({"role": "user", "content": prompt})
        else:
            messages += [{"role": m.role, "content": m.content} for m in prompt or []]
        async with httpx.AsyncClient(timeout=_TIMEOUT) as client:
            response = await client.post(
                f"{endpoint}/chat/completions",
                headers={"Authorization": f"Bearer {secret}"},
                json={"model": ctx.model, "messages": messages},
            )
        if response.is_error:
            return vf.ProgramResult(exit_code=1, stdout="", stderr=response.text)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")
