"""The schema of `configs/*.yaml`: every field with its default and reason."""

import reprlib
from collections.abc import Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic.dataclasses import dataclass

from linkzoo import get_game
from linkzoo.fields import integer, string
from linkzoo_training.agents.specs import check_agent
from linkzoo_training.resources import find_checkpoint, find_config
from linkzoo_training.schema import (
    MOST_BLOCKS,
    MOST_TEMPERATURE,
    MOST_WEIGHT,
    MOST_WIDTH,
    complaints,
)
from linkzoo_training.search.solver import check_solver

_MOST_ENVS, _MOST_HORIZON = 2**20, 2**12

# The ranges of the fields below.
Seed = Annotated[int, Field(ge=0, lt=2**64)]
Count = Annotated[int, Field(ge=1, le=10**9)]
Width = Annotated[int, Field(ge=1, le=MOST_WIDTH)]
Blocks = Annotated[int, Field(ge=0, le=MOST_BLOCKS)]
Envs = Annotated[int, Field(ge=1, le=_MOST_ENVS)]
Horizon = Annotated[int, Field(ge=1, le=_MOST_HORIZON)]
Matches = Annotated[int, Field(ge=1, le=10**6)]  # blocks
Few = Annotated[int, Field(ge=1, le=1000)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
Weight = Annotated[float, Field(ge=0, le=MOST_WEIGHT, allow_inf_nan=False)]
Norm = Annotated[float, Field(gt=0, le=10**6, allow_inf_nan=False)]
Seconds = Annotated[float, Field(gt=0, le=10**9, allow_inf_nan=False)]
Temperature = Annotated[float | None, Field(ge=0, le=MOST_TEMPERATURE, allow_inf_nan=False)]
Simulations = Annotated[int, Field(ge=1, le=2**16)]
Stages = Annotated[tuple[Simulations, ...], Field(min_length=1, max_length=1000)]
Players = Annotated[tuple[int, ...], Field(max_length=100)]
Steps = Annotated[int, Field(ge=1, le=10**15)]
Window = Annotated[int, Field(ge=0, le=10**6)]
Slots = Annotated[int, Field(ge=0, le=1000)]
Limit = Annotated[int, Field(ge=0, lt=2**31)]
Agents = Annotated[tuple[str, ...], Field(max_length=100)]
# Part of a file name
Name = Annotated[str, StringConstraints(pattern=r"^\w[^/\\\x00-\x1f]*$", max_length=200)]
Device = Annotated[str, StringConstraints(pattern=r"^(auto|cpu|cuda(:[0-9]{1,3})?)$")]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Config:
    """What every trainer needs. A step is one ply of one game."""

    # What is learned
    name: Name  # of the run and of the checkpoint
    game: str
    num_players: Players = ()  # one network for all of them; empty: all that can play
    options: dict[str, Any] = field(default_factory=dict)  # the variant that counts

    # Where it runs
    seed: Seed = 0
    device: Device = "auto"  # auto: cuda if torch finds a GPU, else cpu
    num_threads: Count = 2  # at most: never more than the cores that the process may use
    precision: Literal["auto", "bf16", "fp32"] = "auto"  # auto: bf16 where the processor has it

    # How long
    total_steps: Steps = 20_000_000  # schedules run over this many steps
    max_seconds: Seconds | None = None  # stops earlier, at the current schedule

    # Network
    network: Literal["flat", "board"] = "flat"  # board: convolutions, for games with a board
    width: Width = 256  # of layers, or channels of a board
    blocks: Blocks = 4  # residual, of two layers
    start: str | None = None  # a checkpoint (name or folder) whose weights the network begins with

    # Games that begin elsewhere, so that late positions and both outcomes are seen from the start
    midgame: Share = 0.75  # share of games that begin after random plies, linear to midgame_final
    midgame_final: Share = 0.5
    midgame_depth: Share = 0.8  # deepest start, as a share of the game's typical length
    vary: dict[str, tuple[int, int]] = field(default_factory=dict)  # options drawn from low..high
    vary_share: Share = 0.6  # of the games; the others have `options`

    # What the network learns from instead of a position: one of the game's symmetries, at random
    symmetric: bool = False  # for games that have some: what is learned for one holds for all

    # Reports
    eval_every: Count = 50  # iterations between short matches
    eval_opponents: Agents = ("random", "greedy")
    eval_blocks: Matches = 100  # blocks of such a match
    final_opponents: Agents = ("random", "greedy", "uct-100")
    final_blocks: Matches = 500
    save_every: Count = 50  # iterations between training checkpoints

    # What is evaluated and published
    average: Window = 0  # iterations over which its weights are averaged; 0: the newest weights
    views: Count = 1  # symmetric views that the published agent averages
    temperature: Temperature = None  # at which it draws; None: 1 if something is hidden, else 0

    @model_validator(mode="after")
    def _check(self) -> "Config":
        try:
            get_game(self.game)
        except ValueError as error:
            raise ValueError(f"game: {error}") from error
        game = get_game(self.game, self.options)
        for players in self.players:
            game.blank(players, self.options)  # raises for what the game doesn't have
        for option, (low, high) in self.vary.items():
            if low > high:
                raise ValueError(f"vary: {option} has no values in {low}..{high}")
            for value in (low, high):
                game.blank(self.players[0], {**self.options, option: value})
        if self.symmetric and game.symmetries is None:
            raise ValueError(f"symmetric: {self.game} has no symmetries")
        if self.views > 1:
            most = 1 if game.symmetries is None else len(game.symmetries()[0])
            integer("views", self.views, 1, most)
        for name in ("eval_opponents", "final_opponents"):
            self._check_agents(name, *getattr(self, name))
        if self.start is not None:
            find_checkpoint(self.start)  # raises if there is none
        return self

    def _check_agents(self, name: str, *agents: str) -> None:
        """ValueError naming the field unless there are such agents."""
        for agent in agents:
            try:
                check_agent(agent, self.game)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error

    @property
    def players(self) -> tuple[int, ...]:
        """The numbers of players that are trained."""
        game = get_game(self.game, self.options)
        return self.num_players or tuple(range(game.min_players, game.max_players + 1))

    def to_dict(self) -> dict[str, Any]:
        """The configuration as JSON data, defaults included."""
        data: dict[str, Any] = asdict(self)
        return data


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class PPOConfig(Config):
    """Self-play PPO of one game."""

    algorithm: Literal["ppo"] = "ppo"
    critic: Literal["shared", "full"] = "shared"  # full: a network that sees what is hidden too

    # Batches
    num_envs: Envs = 512
    horizon: Horizon = 32  # plies of every game in one iteration
    minibatches: Envs = 4
    epochs: Few = 3

    # PPO (Schulman et al. 2017)
    learning_rate: Positive = 3e-4  # Adam, eps 1e-5, linear to 0
    discount: Share = 1.0  # games are short, only the end pays
    gae_lambda: Share = 0.95  # from one decision of a seat to its next
    clip: Positive = 0.2
    entropy: Weight = 0.01  # linear to entropy_final
    entropy_final: Weight = 0.0
    magnet: Weight = 0.0  # the KL coefficient, of KL(new || old policy): keeps a policy mixed
    value_weight: Weight = 0.5
    max_grad_norm: Norm = 0.5
    margin_weight: Weight = 0.1  # of the score margin in the payoff: a denser signal than the win
    margin_final: Weight = 0.0  # linear to this; above 0, a side that is losing still has an aim

    # Frozen opponents against cycling and forgetting
    pool_share: Share = 0.5  # of the games are played against the pool, the others against itself
    pool_size: Slots = 12  # snapshots; 0: the pool holds fixed opponents alone
    pool_active: Few = 3  # opponents that start games in one iteration
    snapshot_every: Count = 50  # iterations
    rivals: Agents = ()  # fixed opponents in the pool, such as greedy: they always play

    # A teacher: at first the policy learns nothing but its moves, in its own games (DAgger:
    # Ross et al. 2011), for games in which random play shows nothing of what matters
    teacher: str | None = None  # an agent, such as greedy
    teacher_share: Share = 0.3  # of the run
    teacher_rate: Positive = 1e-3  # of learning then, linear to learning_rate
    teacher_weight: Weight = 0.0  # of its moves' cross-entropy beside PPO's loss later
    teacher_final: Weight = 0.0  # teacher_weight is linear to this

    @model_validator(mode="after")
    def _check_ppo(self) -> "PPOConfig":
        self._check_agents("rivals", *self.rivals)
        if self.teacher is not None:
            self._check_agents("teacher", self.teacher)
        if self.critic == "full" and get_game(self.game, self.options).hidden is None:
            raise ValueError(f"critic: {self.game} hides nothing; use 'shared'")
        return self

    def is_taught(self, progress: float) -> bool:
        """Whether the teacher's moves alone are learned after this share of the run."""
        return self.teacher is not None and progress < self.teacher_share

    def teaching(self, progress: float) -> float:
        """What the cross-entropy to the teacher's moves weighs after this share of the run."""
        if self.teacher is None:
            return 0.0
        if self.is_taught(progress):
            return 1.0
        final = self.teacher_final
        return final + (self.teacher_weight - final) * self._left(progress)

    def margin(self, progress: float) -> float:
        """The weight of the score margin in the payoff after this share of the run."""
        return self.margin_weight + (self.margin_final - self.margin_weight) * progress

    def rate(self, progress: float) -> float:
        """The learning rate after this share of the run: linear to 0, behind the teacher's part."""
        if self.is_taught(progress):
            done = progress / self.teacher_share
            return self.teacher_rate + (self.learning_rate - self.teacher_rate) * done
        return self.learning_rate * self._left(progress)

    def _left(self, progress: float) -> float:
        """How much of the run behind the teacher's part is left: from 1 to 0."""
        taught = 0.0 if self.teacher is None else self.teacher_share
        return (1 - progress) / max(1 - taught, 1e-9)


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class AlphaZeroConfig(Config):
    """Gumbel AlphaZero of one game that hides nothing."""

    algorithm: Literal["alphazero"] = "alphazero"

    # Self-play
    num_envs: Envs = 256
    horizon: Horizon = 16  # plies of every game in one iteration
    simulations: Stages = (16, 32, 64)  # for each move, in equal parts of the run
    considered: Simulations = 16  # actions tried at the root
    least_range: Positive = 1e-8  # of values below which the search doesn't stretch them to 0..1

    # Learning
    window: Few = 16  # iterations that a position is learned from
    reuse: Few = 4  # times that each position is learned from: a divisor of the window
    batch_size: Count = 1024
    learning_rate: Positive = 1e-3  # AdamW, linear to learning_rate_final
    learning_rate_final: Share = 1e-4
    weight_decay: Share = 1e-4
    margin_weight: Weight = 0.0  # of the score margin in what an end is worth, to the search too
    root_share: Share = 0.5  # of the value that the search found in the value to learn
    solver_limit: Limit = (
        0  # positions that the exact solver may search to solve one (GumbelSearch)
    )
    value_weight: Weight = 1.0
    forecast_weight: Weight = 0.2  # of what the end looks like, learned beside policy and value
    max_grad_norm: Norm = 1.0

    @model_validator(mode="after")
    def _check_alphazero(self) -> "AlphaZeroConfig":
        if get_game(self.game, self.options).hidden is not None:
            raise ValueError(f"algorithm: {self.game} hides something; use 'ppo'")
        if self.solver_limit:
            check_solver(self.game)
        if self.window % self.reuse:
            raise ValueError(f"reuse: {self.reuse} does not divide the window, {self.window}")
        return self


AnyConfig = PPOConfig | AlphaZeroConfig
_SCHEMAS: dict[Any, TypeAdapter[Any]] = {
    "ppo": TypeAdapter(PPOConfig),
    "alphazero": TypeAdapter(AlphaZeroConfig),
}


def read_config(data: Any) -> AnyConfig:
    """A configuration from YAML or JSON data; ValueError names each field that is wrong.

    `algorithm` says of which trainer; without it, of PPO.
    """
    algorithm = data.get("algorithm", "ppo") if isinstance(data, dict) else "ppo"
    if algorithm not in list(_SCHEMAS):
        raise ValueError(f"algorithm: {algorithm!r} is none of {list(_SCHEMAS)}")
    try:
        config: AnyConfig = _SCHEMAS[algorithm].validate_python(data)
    except ValidationError as error:
        raise ValueError(complaints(error)) from error
    return config


def _fields(path: Path, below: tuple[Path, ...] = ()) -> dict[str, Any]:
    """What a YAML file sets, over what the configuration that it extends sets."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"{path}: no YAML ({error})") from error
    if not isinstance(data, dict):
        raise ValueError(f"{path}: not a mapping of fields to values")
    if path in below:
        raise ValueError(f"{path}: extends itself")
    base = data.pop("extends", None)
    if base is None:
        return data
    return {**_fields(find_config(string(f"{path}: extends", base)), (*below, path)), **data}


def load_config(path_or_name: str | Path, overrides: Sequence[str] = ()) -> AnyConfig:
    """Reads a YAML file, or a configuration that ships with the package, by its name.

    A file may begin with `extends: NAME`: the fields that it doesn't set are those of the
    configuration so named. `overrides` are `field=value` with a YAML value; a dot reaches into a
    mapping (`options.threshold=10`). ValueError says what is wrong.
    """
    path = find_config(path_or_name)
    data = override(_fields(path), overrides)
    try:
        return read_config(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def override(data: dict[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """The data with each `field=value` set (see load_config); ValueError names a wrong one."""
    for setting in overrides:
        key, value = read_setting(setting, "field")
        *parents, last = key.split(".")
        target = data
        for parent in parents:
            target = target.setdefault(parent, {})
            if not isinstance(target, dict):
                raise ValueError(f"{setting!r}: {parent} has no fields")
        target[last] = value
    return data


def read_setting(setting: str, what: str) -> tuple[str, Any]:
    """The name and the YAML value of a `name=value`; ValueError if it is none, `what` it is of."""
    name, separator, text = setting.partition("=")
    if not separator:
        raise ValueError(f"{setting!r} is no {what}=value")
    try:
        return name, yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"{reprlib.repr(setting)} has no YAML value") from error


def read_options(settings: list[str]) -> dict[str, Any]:
    """The game's options from `name=value` with YAML values, as in configurations."""
    return dict(read_setting(setting, "option") for setting in settings)
