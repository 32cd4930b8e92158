"""The schema of `configs/*.yaml`: every field with its default and meaning."""

from collections.abc import Sequence
from dataclasses import field
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticCustomError

from linkzoo import Game, get_game
from linkzoo.core.arguments import integer
from linkzoo.core.imports import whole_path
from linkzoo.core.options import option_names
from linkzoo.core.urls import is_url, local_copy
from linkzoo.registry import id_of
from linkzoo_training import schema
from linkzoo_training.agents.linear import SHIPPED_SCORERS, load_scorer
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.config.fields import check_varied, merged, override, read_file
from linkzoo_training.config.schedule import Schedule
from linkzoo_training.config.standard import is_game, standard_fields
from linkzoo_training.imports import check_import_path, is_import_path
from linkzoo_training.resources import file_exists, find_checkpoint, find_config, shipped
from linkzoo_training.search.solver import check_side_solver

__all__ = ["load_config"]


def _no_bool(value: Any) -> Any:
    """Refuses true and false, which pydantic takes for 1 and 0."""
    if isinstance(value, bool):
        raise PydanticCustomError("number", "must be a number")
    return value


def _known_network(kind: str) -> str:
    """Refuses the name of no network, and the import path of no file or package.

    An import path has the whole path of its file from then on.
    """
    kinds = ("flat", "board", "graph", "action")
    if is_import_path(kind):
        check_import_path(kind, "network")
        return whole_path(kind)
    if kind not in kinds:
        raise PydanticCustomError(
            "network", f"must be one of {', '.join(kinds)}, FILE.py:NAME or module:NAME"
        )
    return kind


def _whole_path(path: str) -> str:
    """Returns the whole path of a file or folder: a run continues from any folder."""
    if is_url(path):
        return path
    return str(Path(path).resolve())


Int = Annotated[int, pydantic.BeforeValidator(_no_bool)]
Float = Annotated[float, pydantic.BeforeValidator(_no_bool)]

# Ranges of fields.
Seed = Annotated[Int, Field(ge=0, lt=2**64)]
Count = Annotated[Int, Field(ge=1, le=10**9)]
Envs = Annotated[Int, Field(ge=1, le=2**20)]
Width = Annotated[Int, Field(ge=1, le=schema.MAX_WIDTH)]
Few = Annotated[Int, Field(ge=1, le=1000)]
Share = Annotated[Float, Field(ge=0, le=1)]
Positive = Annotated[Float, Field(gt=0, le=1)]
Weight = Annotated[Float, Field(ge=0, le=schema.MAX_WEIGHT)]
Seconds = Annotated[Float, Field(gt=0, le=10**9)]
Temperature = Annotated[Float | None, Field(ge=0, le=schema.MAX_TEMPERATURE)]
Range = Annotated[Float | None, Field(gt=0, le=schema.MAX_RANGE)]
Simulations = Annotated[Int, Field(ge=1, le=2**16)]
Stages = Annotated[tuple[Simulations, ...], Field(min_length=1, max_length=1000)]
Agents = Annotated[tuple[str, ...], Field(max_length=100)]
# Part of a file name
Name = Annotated[str, pydantic.StringConstraints(pattern=r"^\w[^/\\\x00-\x1f]*$", max_length=200)]
Network = Annotated[str, pydantic.AfterValidator(_known_network)]
AnyPath = Annotated[str, pydantic.AfterValidator(_whole_path)]
Device = Annotated[str, pydantic.StringConstraints(pattern=r"^(auto|cpu|cuda(:[0-9]{1,3})?)$")]


# A constant schedule is a single number in YAML and JSON.
def _first_and_last(value: Any) -> Any:
    """Returns `[first, last]` for a schedule or a single number."""
    if isinstance(value, list | tuple):
        return value
    return [value, value]


def _shortest(schedule: Schedule[float]) -> Any:
    """Returns a single number for a constant schedule, else `[first, last]`."""
    if schedule.first == schedule.last:
        return schedule.first
    return [schedule.first, schedule.last]


_Read = pydantic.BeforeValidator(_first_and_last)
_Write = pydantic.PlainSerializer(_shortest)
ShareSchedule = Annotated[Schedule[Share], _Read, _Write]
WeightSchedule = Annotated[Schedule[Weight], _Read, _Write]

_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True, config=_STRICT)
class InitialStatesConfig:
    """Games that begin mid-game, so that training sees late positions and both outcomes early.

    Random plies are uniform up to 0.8 of the game's typical length.
    """

    midgame: ShareSchedule = Schedule(0.75, 0.5)  # share of games that begin after random plies
    vary: dict[str, tuple[Int, Int]] = field(default_factory=dict)  # options sampled from low..high
    vary_share: Share = 0.6  # share of games with sampled options; the others have `options`
    file: AnyPath | None = None  # file of positions that games begin from (linkzoo data positions)
    file_share: Share = 1.0  # share of games that begin from the file


@dataclass(frozen=True, config=_STRICT)
class EvalConfig:
    """Matches of the policy: short ones during training, long ones of the published agent."""

    every: Count = 50  # iterations between short matches
    openings: str | None = None  # random plies before each game or a file; None: as in Match
    opponents: Agents = ("random", "greedy")  # opponents in short matches
    blocks: Annotated[Int, Field(ge=1, le=10**6)] = 100  # blocks of a short match
    final_opponents: Agents = ("random", "greedy", "uct-100")  # of the final matches
    final_blocks: Annotated[Int, Field(ge=1, le=10**6)] = 500  # blocks of a final match


@dataclass(frozen=True, config=_STRICT)
class PoolConfig:
    """Frozen opponents, against cycling and forgetting."""

    share: Share = 0.5  # share of games against the pool; the others are self-play
    size: Annotated[Int, Field(ge=0, le=1000)] = 12  # snapshots; 0: fixed opponents alone
    active: Few = 3  # snapshots in new games of an iteration: few, for large batches
    snapshot_every: Count = 50  # iterations between snapshots
    fixed_opponents: Agents = ()  # agents that play in every iteration, such as greedy
    league: AnyPath | None = None  # folder shared by runs that play each other's latest snapshots


@dataclass(frozen=True, config=_STRICT)
class TeacherConfig:
    """A teacher: at first the policy only imitates it, in the policy's own games.

    This is DAgger (Ross et al. 2011), for games in which random play rarely reaches good positions.
    """

    agent: str  # such as greedy, or mc-20
    share: Share = 0.3  # share of the run that only imitates it
    learning_rate: Positive = 1e-3  # at the start of the imitation; linear to PPO's at its end
    weight: WeightSchedule = Schedule(0.0, 0.0)  # weight of imitation beside PPO's loss, afterwards
    temperature: Positive = 0.05  # targets of an agent with action values: softmax(values / this)


@dataclass(frozen=True, config=_STRICT)
class Config:
    """Fields of every trainer. A step is one ply of one game.

    Schedules run over `total_steps`, or over `max_seconds` if the time is spent sooner; `[first,
    last]` is linear, a single number is constant.
    """

    # Task
    name: Name  # name of the run and the checkpoint
    game: str  # its name, or module:name or FILE.py:name of a custom game
    num_players: Annotated[tuple[Int, ...], Field(max_length=100)] = ()  # empty: all numbers
    options: dict[str, Any] = field(default_factory=dict)  # options of the evaluated game

    # Hardware and seed
    seed: Seed = 0  # seed of all randomness
    device: Device = "auto"  # auto: cuda if torch finds a GPU, else cpu
    num_threads: Count = 2  # at most the cores that the process may use
    precision: Literal["auto", "bf16", "fp32"] = "auto"  # auto: bf16 where it's faster
    parts: Few | None = None  # groups of games for workers; None: by the number of workers

    # Duration
    total_steps: Annotated[Int, Field(ge=1, le=10**15)] = 20_000_000  # length of the schedules
    max_seconds: Seconds | None = None  # ends training, and its schedules, early
    save_every: Count = 50  # iterations between training checkpoints

    # Network
    network: Network = "flat"  # flat, board, graph or action, or FILE.py:NAME of a function
    width: Width = 256  # size of layers, or channels per cell
    blocks: Annotated[Int, Field(ge=0, le=schema.MAX_BLOCKS)] = 4  # residual blocks of two layers
    initial_checkpoint: str | None = None  # name or folder of a checkpoint to start from
    initial_scorer: str | None = None  # of network action: linear, improved, or a FILE.json
    scorer_temperature: Positive = 0.1  # at first the policy is softmax(scores / this)

    # Training data
    initial_states: InitialStatesConfig = InitialStatesConfig()  # where games begin
    symmetric: bool = False  # data augmentation with random symmetries of the game
    pool: PoolConfig = PoolConfig(share=0.0, size=0)  # frozen opponents; AlphaZero: off by default

    # Evaluation and publication
    eval: EvalConfig = EvalConfig()  # matches
    average: Annotated[Int, Field(ge=0, le=10**6)] = 0  # iterations of averaged weights; 0: newest
    views: Count = 1  # symmetric views that the published agent averages
    temperature: Temperature = None  # in published play; null: 1 with imperfect information, else 0

    @model_validator(mode="after")
    def _check(self) -> "Config":
        try:
            get_game(self.game)
        except ValueError as error:
            raise ValueError(f"game: {error}") from error
        game = get_game(self.game, self.options)
        if ".py:" in self.game:
            object.__setattr__(self, "game", id_of(game))  # with the whole path
        for players in self.players:
            game.blank(players, self.options)  # raises for invalid options
        self._check_variants(game)
        symmetries = game.observation.symmetries
        if self.symmetric and symmetries is None:
            raise ValueError(f"symmetric: {self.game} has no symmetries")
        if self.views > 1:
            most_views = len(symmetries()[0]) if symmetries else 1
            integer("views", self.views, 1, most_views)
        pool = self.pool
        if pool.league is not None and (pool.snapshot_every < 2 or not pool.share * pool.size):
            raise ValueError("pool.league: needs pool.snapshot_every of 2 or more, share and size")
        self._check_agents("pool.fixed_opponents", *pool.fixed_opponents)
        self._check_agents("eval.opponents", *self.eval.opponents)
        self._check_agents("eval.final_opponents", *self.eval.final_opponents)
        file = self.initial_states.file
        if file is not None and not file_exists(local_copy(file)):
            raise ValueError(f"initial_states.file: there is no file {file}")
        if self.initial_checkpoint is not None:
            folder = find_checkpoint(self.initial_checkpoint)  # raises if there is none
            if folder.parent != shipped("checkpoints") and not is_url(self.initial_checkpoint):
                object.__setattr__(self, "initial_checkpoint", _whole_path(str(folder)))
        if self.initial_scorer is not None:
            self._check_scorer(game)
        return self

    def _check_scorer(self, game: Game) -> None:
        """Raises ValueError unless the network can begin as the scorer; writes its whole path."""
        if self.network != "action":
            raise ValueError("initial_scorer: needs network: action")
        if self.initial_checkpoint is not None:
            raise ValueError("initial_scorer and initial_checkpoint: a run begins from one of them")
        if self.initial_scorer not in SHIPPED_SCORERS:
            object.__setattr__(self, "initial_scorer", _whole_path(str(self.initial_scorer)))
        load_scorer(game, str(self.initial_scorer))

    def _check_variants(self, game: Game) -> None:
        """Raises ValueError for options that are invalid, or decide every game."""
        vary = self.initial_states.vary
        for option, (low, high) in vary.items():
            if low > high:
                raise ValueError(f"initial_states.vary: {option} has no values in {low}..{high}")
        variants = [("options", self.options)]
        for bounds in product(*vary.values()):
            varied = dict(zip(vary, bounds, strict=True))
            variants.append(("initial_states.vary", {**self.options, **varied}))
        for field_name, variant in variants:
            game.blank(self.players[0], variant)
            if decided := game.options(**variant).decided():
                raise ValueError(f"{field_name}: {decided}")

    def _check_agents(self, name: str, *agents: str) -> None:
        """Raises ValueError naming the field unless all agents exist."""
        for agent in agents:
            try:
                AgentSpec.parse(agent).check(self.game, human=False)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error

    @property
    def players(self) -> tuple[int, ...]:
        """The numbers of players in training."""
        game = get_game(self.game, self.options)
        return self.num_players or tuple(range(game.min_players, game.max_players + 1))

    def to_dict(self) -> dict[str, Any]:
        """Returns the configuration as JSON data, defaults included."""
        data: dict[str, Any] = TypeAdapter(type(self)).dump_python(self, mode="json")
        return data


@dataclass(frozen=True, config=_STRICT)
class PPOConfig(Config):
    """Self-play PPO of one game."""

    algorithm: Literal["ppo"] = "ppo"  # the trainer
    critic: Literal["shared", "full"] = "shared"  # full: a network that also sees hidden parts

    # Batches
    num_envs: Envs = 512  # games side by side
    env_device: Literal["cpu", "cuda"] = "cpu"  # plays the games; cuda: on `device` (extra cuda)
    horizon: Annotated[Int, Field(ge=1, le=2**12)] = 32  # plies of every game in one iteration
    minibatches: Envs = 4  # minibatches per pass over an iteration's plies
    epochs: Few = 3  # passes over an iteration's plies

    # PPO (Schulman et al. 2017)
    optimizer: Literal["adam", "muon"] = "adam"  # muon: for hidden layers, and Adam for the others
    learning_rate: ShareSchedule = Schedule(3e-4, 0.0)  # after the teacher's part
    gae_lambda: Share = 0.95  # lambda of GAE, over the decisions of one seat
    clip: Positive = 0.2  # clip range of the probability ratio
    entropy: WeightSchedule = Schedule(0.01, 0.0)  # coefficient of the entropy bonus
    kl_coef: Weight = 0.0  # coefficient of KL(new || old policy): keeps the policy mixed
    score_margin_weight: WeightSchedule = Schedule(0.1, 0.0)  # weight of score margins in payoffs
    reward_hook: str | None = None  # FILE.py:NAME of a function of old and new records

    pool: PoolConfig = PoolConfig()
    teacher: TeacherConfig | None = None  # an agent to imitate at first

    @model_validator(mode="after")
    def _check_ppo(self) -> "PPOConfig":
        if self.teacher is not None:
            self._check_agents("teacher.agent", self.teacher.agent)
        if self.reward_hook is not None:
            check_import_path(self.reward_hook, "reward_hook")
            if self.env_device == "cuda":
                raise ValueError("reward_hook: needs env_device: cpu")
        if self.env_device == "cuda" and self.device == "cpu":
            raise ValueError("env_device: cuda, but device: cpu; use the same device for both")
        observation = get_game(self.game, self.options).observation
        if self.critic == "full" and observation.privileged_spec is None:
            raise ValueError(f"critic: {self.game} has no hidden information; use 'shared'")
        return self

    def only_imitates(self, progress: float) -> bool:
        """Returns whether training only imitates the teacher at this progress (0..1)."""
        return self.teacher is not None and progress < self.teacher.share

    def teacher_weight(self, progress: float) -> float:
        """Returns the weight of the imitation loss at this progress (0..1)."""
        if self.teacher is None:
            return 0.0
        if self.only_imitates(progress):
            return 1.0
        return self.teacher.weight.at(self._after_teacher(progress))

    def learning_rate_at(self, progress: float) -> float:
        """Returns the learning rate at this progress (0..1); the teacher's part has its own."""
        if self.teacher is not None and self.only_imitates(progress):
            imitation = Schedule(self.teacher.learning_rate, self.learning_rate.first)
            return imitation.at(progress / self.teacher.share)
        return self.learning_rate.at(self._after_teacher(progress))

    def _after_teacher(self, progress: float) -> float:
        """Returns the progress (0..1) of the run after the teacher's part."""
        share = 0.0 if self.teacher is None else self.teacher.share
        return 1 - (1 - progress) / max(1 - share, 1e-9)


@dataclass(frozen=True, config=_STRICT)
class AlphaZeroConfig(Config):
    """Gumbel AlphaZero of one game."""

    algorithm: Literal["alphazero"] = "alphazero"  # the trainer

    # Self-play
    num_envs: Envs = 256  # games side by side
    horizon: Annotated[Int, Field(ge=1, le=2**12)] = 16  # plies of every game in one iteration
    simulations: Stages = (16, 32, 64)  # per move; a list is a schedule over equal parts of the run
    min_value_range: Range = None  # smallest range of values that is scaled to 0..1 (GumbelSearch)
    solver_limit: Annotated[Int, Field(ge=0, lt=2**31)] = (
        0  # solver's positions per root, see GumbelSearch; 0: off
    )
    asynchronous: bool = False  # workers' games don't wait for each other, nor learning for all
    max_staleness: Few = 4  # if asynchronous: iterations that the weights of games may be behind
    central_inference: bool = False  # if asynchronous: the learner's device evaluates all leaves

    # Learning
    window: Few = 16  # iterations for which a position is kept
    reuse: Few = 4  # times that a position is trained on, a divisor of `window`
    batch_size: Count = 1024  # positions per gradient step
    learning_rate: ShareSchedule = Schedule(6e-3, 1e-4)  # Muon's, and AdamW's for outer layers
    score_margin_weight: Weight = 0.0  # weight of score margins in values, in the search too

    @model_validator(mode="after")
    def _check_alphazero(self) -> "AlphaZeroConfig":
        if self.solver_limit:
            check_side_solver(self.game)
        if self.window % self.reuse:
            raise ValueError(f"reuse: {self.reuse} does not divide the window, {self.window}")
        if self.central_inference and not self.asynchronous:
            raise ValueError("central_inference: needs asynchronous: true")
        return self

    def simulations_at(self, progress: float) -> int:
        """Returns the simulations per move at this progress (0..1)."""
        index = int(progress * len(self.simulations))
        return self.simulations[min(index, len(self.simulations) - 1)]


AnyConfig = PPOConfig | AlphaZeroConfig
_CLASSES: dict[Any, type[AnyConfig]] = {"ppo": PPOConfig, "alphazero": AlphaZeroConfig}
_ADAPTERS = {name: TypeAdapter[AnyConfig](config) for name, config in _CLASSES.items()}


def read_config(data: Any) -> AnyConfig:
    """Returns a configuration from YAML or JSON data; the default `algorithm` is PPO.

    Raises:
        ValueError: Fields are invalid; names each of them, and the nearest known one.
    """
    algorithm = "ppo"
    if isinstance(data, dict):
        algorithm = data.get("algorithm", algorithm)
    if algorithm not in list(_ADAPTERS):
        raise ValueError(f"algorithm: {algorithm!r} is not one of {list(_ADAPTERS)}")
    try:
        return _ADAPTERS[algorithm].validate_python(data)
    except ValidationError as error:
        names = [*schema.field_names(_CLASSES[algorithm]), *_option_fields(data)]
        raise ValueError(schema.explain(error, names)) from error


def _option_fields(data: Any) -> list[str]:
    """Returns the fields of a configuration that are options of its game, if there is one."""
    try:
        game = get_game(data.get("game", "") if isinstance(data, dict) else "")
    except ValueError:
        return []
    return [f"options.{name}" for name in option_names(game.options)]


def load_config(path_or_name: str | Path, overrides: Sequence[str] = ()) -> AnyConfig:
    """Reads a YAML file, or a shipped configuration by its name; a game's name picks one for it.

    With `extends: NAME` in a file, fields that it doesn't set come from that configuration, in
    sections too: a file beside it, or a preset. `overrides` are `field=value` with a YAML value; a
    dot reaches into a section (`pool.share=0.5`). Raises ValueError for invalid files or fields.
    """
    text = str(path_or_name)
    if is_game(text):
        fields = standard_fields(text)
        changes = override({}, overrides)
        if "total_steps" in changes:
            del fields["max_seconds"]
        return read_config(merged(fields, changes))
    path = find_config(path_or_name)
    data = read_file(path)
    game = data.get("game")
    data = override(data, overrides)
    if path.parent == shipped("configs") and data["game"] != game:
        get_game(data["game"])  # raises if there is none
        raise ValueError(
            f"{text} is a configuration of {game}: `linkzoo train {data['game']}` picks one for "
            f"{data['game']}, or write a file"
        )
    check_varied(data, override({}, overrides))
    try:
        return read_config(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
