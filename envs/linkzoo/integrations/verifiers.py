"""verifiers: a seat of a game as its environment, a taskset of games and a harness for them.

A package exports the three for `vf-eval` and `vf-validate` (`examples/verifiers_env`). Needs the
extra `verifiers`.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx
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
    """The model's seat; None for another one each game."""
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


class LinkzooEnvConfig(vf.EnvConfig):
    """The model that plays is `--env.player.*`."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class LinkzooEnv(vf.Env[LinkzooEnvConfig]):
    """A conversation about one game; its reward `game` is the sum of TextEnv's rewards."""

    async def run(self, task: LinkzooTask, agents: vf.Agents) -> None:
        """Plays the game; one that the model leaves early is paid like an illegal answer's end."""
        env = task.data.make()
        env.reset(task.data.seed)
        total = 0.0
        legal = 0
        answers = 0
        done = False
        async with agents.player.interaction(task) as talk:
            segment = await talk.turn()
            while not segment.terminated:
                step = env.step(segment.last_reply)
                total += step.reward
                legal += step.legal
                answers += 1
                done = step.done
                if done:
                    break
                segment = await talk.turn(step.message)
        if not done:
            total -= 1
        talk.trace.record_reward("game", total)
        talk.trace.record_metric("legal", legal / max(answers, 1))


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
