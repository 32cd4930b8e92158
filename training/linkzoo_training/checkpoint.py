"""Checkpoints: safetensors and JSON, written whole or not at all, and refused when they don't fit.

A published checkpoint is a folder: `model.safetensors` (weights) and `card.json` (game, network,
how it was trained, measured strength).
"""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from linkzoo import Game, Positions, get_game
from linkzoo.chance import STREAM_ACTION, words
from linkzoo.fields import integer, shown
from linkzoo_training.config import (
    MOST_BLOCKS,
    MOST_TEMPERATURE,
    MOST_WEIGHT,
    MOST_WIDTH,
    complaints,
)
from linkzoo_training.fingerprints import fingerprints
from linkzoo_training.networks import PolicyValueNet, make_network, masked
from linkzoo_training.resources import find_checkpoint
from linkzoo_training.search.exact import side_solver
from linkzoo_training.search.gumbel import GumbelSearch
from linkzoo_training.symmetries import symmetries

FORMAT = "linkzoo-checkpoint/1"
CARD, WEIGHTS = "card.json", "model.safetensors"
PART = ".part"  # ends the name of a file that is being written
SOLVER_LIMIT = 300_000  # positions to solve one (GumbelSearch), in searches at play time
_MOST_BYTES = 2**28  # of the trees that a search grows side by side
_MOST_LOGIT = 1e8  # of a sane network: far below what marks an illegal action (ILLEGAL_LOGIT)
_UNSEALED = "0" * 64  # where a file's SHA-256 stands, for its computation


def write_atomically(path: Path, data: bytes) -> None:
    """Writes a file under another name, then renames it: readers see the old one or the new.

    OSError names the path; nothing is left of what couldn't be written.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}{PART}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def pack(tensors: Mapping[str, Tensor], meta: Mapping[str, Any] | None = None) -> bytes:
    """Tensors and JSON data as the bytes of a safetensors file."""
    ready = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    return save(ready, metadata={"json": json.dumps(meta or {})})


def unpack(data: bytes) -> dict[str, Tensor]:
    """The tensors that `pack` took."""
    return load(data)


def under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin with a prefix, without it."""
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def named(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors with a prefix before their names, which `under` takes away."""
    return {prefix + name: value for name, value in tensors.items()}


def save_tensors(path: Path, tensors: Mapping[str, Tensor], meta: Mapping[str, Any]) -> None:
    """Writes tensors and JSON data to one safetensors file, which holds its own SHA-256."""
    ready = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    data = save(ready, metadata={"json": json.dumps(meta), "sha256": _UNSEALED})
    seal = hashlib.sha256(data).hexdigest().encode()
    write_atomically(path, data.replace(_UNSEALED.encode(), seal, 1))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Reads what `save_tensors` wrote; ValueError names the file if a bit of it has changed."""
    data = path.read_bytes()
    try:
        tensors = dict(sorted(load(data).items()))
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
        seal, text = header["sha256"].encode(), header["json"]
        meta = json.loads(text)
    except KeyError as error:
        raise ValueError(f"{path} is damaged, or of an older version: it has no {error}") from error
    except (SafetensorError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    found = hashlib.sha256(data.replace(seal, _UNSEALED.encode(), 1)).hexdigest()
    if found.encode() != seal or not isinstance(meta, dict):
        raise ValueError(f"{path} is damaged: its content isn't what its SHA-256 says")
    return tensors, meta


class _Network(BaseModel):
    """The arguments of `make_network`."""

    model_config = ConfigDict(extra="forbid", strict=True)
    kind: str
    width: Annotated[int, Field(ge=1, le=MOST_WIDTH)]
    blocks: Annotated[int, Field(ge=0, le=MOST_BLOCKS)]


class _Card(BaseModel):
    """What is read of a card; it may say more."""

    model_config = ConfigDict(extra="allow", strict=True)
    game: str
    version: int
    fixed: dict[str, Any]
    sha256: str
    fingerprints: dict[str, str]
    network: _Network
    views: Annotated[int, Field(ge=1)]
    temperature: Annotated[float | None, Field(ge=0, le=MOST_TEMPERATURE, allow_inf_nan=False)] = (
        None
    )
    margin_weight: Annotated[float, Field(ge=0, le=MOST_WEIGHT, allow_inf_nan=False)] = 0.0
    trained: dict[str, Any] = {}
    strength: list[dict[str, Any]] = []
    thrown_wins: list[dict[str, Any]] = []


def save_checkpoint(
    folder: Path, network: PolicyValueNet, game: Game, card: Mapping[str, Any]
) -> None:
    """Writes a published checkpoint.

    `card` holds at least `network` (kind, width, blocks), the arguments of `make_network`, and
    `views`, the symmetric views that the agent averages; `margin_weight`, where it isn't 0, is the
    weight of the score margin in the network's values.
    """
    weights = pack(network.state_dict())
    full = {
        "format": FORMAT,
        "game": game.id,
        "version": game.version,
        "fixed": dict(game.fixed),
        "sha256": hashlib.sha256(weights).hexdigest(),
        "fingerprints": fingerprints(game),
        **card,
    }
    write_atomically(folder / WEIGHTS, weights)
    save_card(folder, full)


def save_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Writes the whole card of a checkpoint."""
    write_atomically(folder / CARD, (json.dumps(card, indent=1) + "\n").encode())


def load_card(folder: Path) -> dict[str, Any]:
    """The card of a checkpoint; ValueError if it is damaged, misshapen or of another format."""
    path = folder / CARD
    try:
        card = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise ValueError(f"{path} is no card of format {FORMAT}")
    try:
        _Card.model_validate(card)
    except ValidationError as error:
        raise ValueError(f"{path}: {complaints(error)}") from error
    return card


def usual_temperature(game: Game) -> float:
    """How policies of a game are played: 1 (drawn) if the game hides something, else 0.

    Where something is hidden the best play is often mixed, and the likeliest action alone is a
    policy that nobody trained.
    """
    return 0.0 if game.hidden is None else 1.0


class PolicyAgent:
    """A trained policy: one forward pass for each decision, and no search.

    It plays its likeliest action at `temperature` 0, and draws from the policy at 1; None is what
    the game's policies are usually played with (`usual_temperature`).

    With `views` above 1 the pass is over that many symmetric views of the position, and their
    probabilities and values are averaged: a network of few parameters is never quite symmetric by
    itself. Needs a game that declares symmetries.
    """

    def __init__(
        self,
        name: str,
        game: Game,
        network: PolicyValueNet,
        card: Mapping[str, Any],
        *,
        temperature: float | None = None,
        views: int = 1,
        device: str | torch.device = "cpu",
    ) -> None:
        self.name, self.game, self.card = name, game, dict(card)
        self.temperature = usual_temperature(game) if temperature is None else temperature
        if not 0 <= self.temperature <= MOST_TEMPERATURE:
            raise ValueError(f"temperature: {self.temperature:g} is not in 0..{MOST_TEMPERATURE}")
        self.views = np.zeros(1, np.int64)  # the identity
        if views != 1:
            count = len(symmetries(game))
            if not 1 <= views <= count:
                raise ValueError(f"views: {views} is not in 1..{count}")
            self.views = np.arange(views) * count // views
        self.device = torch.device(device)
        self.network = network.to(self.device).eval()

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """The likeliest action of each position, or one drawn at the agent's temperature; [N]."""
        if positions.game.key != self.game.key:
            raise ValueError(f"{self.name} plays {self.game.key}, not {positions.game.key}")
        logits, _ = self.evaluate(positions)
        return self.draw(logits, positions.seeds)

    def draw(self, logits: Tensor, seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Actions [N] from logits [N, A]: the likeliest, or drawn at the agent's temperature."""
        if self.temperature > 0:
            drawn = words(seeds, STREAM_ACTION, 0) >> np.uint64(11)
            uniform = torch.from_numpy(drawn / 2.0**53)  # below 1 as a double
            lower = logits.double() - logits.amax(-1, keepdim=True)
            chances = torch.softmax(lower / self.temperature, -1).cumsum(-1)
            return (chances <= uniform[:, None] * chances[:, -1:]).sum(-1).numpy()
        return logits.argmax(-1).numpy()

    def evaluate(self, positions: Positions) -> tuple[Tensor, Tensor]:
        """Masked logits [N, A] and values [N, P] relative to the seat to act, on the CPU."""
        features = self.network.map(positions.observation.reshape(len(positions), -1))
        mask, count = torch.from_numpy(positions.action_mask), len(self.views)
        if count > 1:
            views = symmetries(self.game).views(features, self.views)
            features = views.reshape(-1, features.shape[1])
        logits, values = self.answer(features)
        if count > 1:
            answers = symmetries(self.game).answers(
                logits.reshape(count, len(mask), -1), self.views
            )
            logits = torch.softmax(masked(answers, mask), -1).mean(0).clamp(min=1e-30).log()
            values = values.reshape(count, len(mask), -1).mean(0)
        return masked(logits, mask), values

    def answer(self, features: NDArray[Any]) -> tuple[Tensor, Tensor]:
        """Logits [N, A] and values [N, P] of features [N, F], on the CPU.

        ValueError if they are so large that no weights of a training give them, or no numbers.
        """
        with torch.no_grad():
            logits, values = self.network(torch.from_numpy(features).to(self.device))
        logits, values = logits.float().cpu(), values.float().cpu()
        if not max(logits.abs().amax(), values.abs().amax()) < _MOST_LOGIT:
            raise ValueError(f"{self.name}: the network gives numbers beyond {_MOST_LOGIT:g}")
        return logits, values


class SearchAgent:
    """A trained policy that searches before it plays: `simulations` for each decision.

    The search (`search.gumbel`) plays on with what the seat may know: where something is hidden or
    still to be drawn, every simulation is in another world that the seat can't tell from the real
    one. Of a policy that averages symmetric views, every position in the search is seen through one
    of them. At a temperature above 0 the action is drawn from the policy that the search improved.
    Where the game has an exact solver, what that solves within SOLVER_LIMIT positions (in Linkage a
    quarter of a second) is played perfectly.
    """

    def __init__(self, policy: PolicyAgent, simulations: int) -> None:
        self.policy, self.simulations = policy, simulations
        self.name = f"{policy.name}:{simulations}"
        memory = side_solver(policy.game).memory(1, SOLVER_LIMIT)
        solving, node = sum(part.nbytes for part in memory), 4 * policy.game.num_actions
        integer("simulations", simulations, 1, (_MOST_BYTES - solving) // node - 1)
        self._count = _MOST_BYTES // (solving + (simulations + 1) * node)
        self._search = GumbelSearch(
            policy.game,
            self._count,
            simulations,
            views=policy.views,
            margin_weight=policy.card.get("margin_weight", 0.0),
            solver_limit=SOLVER_LIMIT,
        )

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """The action that the search prefers in each position; int64[N]."""
        policy = self.policy
        if positions.game.key != policy.game.key:
            raise ValueError(f"{self.name} plays {policy.game.key}, not {positions.game.key}")
        actions = np.empty(len(positions), np.int64)
        for first in range(0, len(positions), self._count):
            part = slice(first, first + self._count)
            states, seeds = positions.states[part].copy(), positions.seeds[part]
            found = self._search.run(states, seeds, policy.answer)
            actions[part] = found.actions
            if policy.temperature > 0:
                logits = torch.from_numpy(found.policy).clamp(min=1e-30).log()
                actions[part] = policy.draw(logits, seeds)
        return actions


def load_weights(network: PolicyValueNet, folder: Path) -> None:
    """Gives a network the weights of a checkpoint; ValueError names the file and what is wrong."""
    network.load_state_dict(_read_weights(folder, load_card(folder), network))


def _read_weights(
    folder: Path, card: Mapping[str, Any], network: PolicyValueNet
) -> dict[str, Tensor]:
    """The weights of a checkpoint, if they are those of its card and fit the network."""
    path = folder / WEIGHTS
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != card["sha256"]:
        raise ValueError(
            f"{path} is damaged, or not the card's: its SHA-256 is {found}, not {card['sha256']!r}"
        )
    try:
        weights = unpack(data)
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    fitting(path, weights, network.state_dict(), "the network")
    return weights


def fitting(
    path: Path, found: Mapping[str, Tensor], expected: Mapping[str, Tensor], whose: str
) -> None:
    """ValueError unless the tensors of a file have the names, shapes and types of those expected.

    Nor may a number in them be infinite or none.
    """
    for name in sorted(found.keys() | expected.keys()):
        if name not in found or name not in expected:
            has = "a" if name in found else "no"
            raise ValueError(f"{path} has {has} tensor {name}, unlike {whose}")
        for what in ("shape", "dtype"):
            values = [_said(getattr(one[name], what)) for one in (found, expected)]
            if values[0] != values[1]:
                raise ValueError(
                    f"{path}: {name} has {what} {values[0]}, {whose}'s has {values[1]}"
                )
    finite(path, found)


def _said(value: torch.Size | torch.dtype) -> str:
    return str(list(value) if isinstance(value, torch.Size) else value)


def finite(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """ValueError if a number of a file's tensors is infinite or none."""
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{path}: {name} holds numbers that aren't finite")


def load_agent(
    path_or_name: str | Path,
    *,
    temperature: float | None = None,
    views: int | None = None,
    device: str = "cpu",
) -> PolicyAgent:
    """The agent of a checkpoint: a folder, or the name of one that ships with the package.

    `temperature` 0 plays the likeliest action, 1 draws from the policy, and `views` is the number
    of symmetric views that are averaged (None: what its card says; a card without a temperature
    leaves it to the game, see PolicyAgent). ValueError if there is no such checkpoint, if it is
    damaged, or if it was trained for other rules or observations.
    """
    folder = find_checkpoint(path_or_name)
    card = load_card(folder)
    try:
        game = get_game(card["game"], card["fixed"])
        with torch.device("meta"):  # takes no memory, whatever the card says
            outline = make_network(game, **card["network"])
    except ValueError as error:
        raise ValueError(f"{folder / CARD}: {error}") from error
    for what, value in fingerprints(game).items():
        if card["fingerprints"].get(what) != value:
            raise ValueError(
                f"{folder} was trained for other {what}: its fingerprint is "
                f"{shown(card['fingerprints'].get(what))}, that of this package's {game.name} "
                f"{value!r}"
            )
    weights = _read_weights(folder, card, outline)
    network = make_network(game, **card["network"])
    network.load_state_dict(weights)
    name = folder.resolve().name
    if views is None:
        views = card["views"]
    elif views != card["views"]:
        name = f"{name}@{views}"
    usual = card.get("temperature")
    if usual is None:
        usual = usual_temperature(game)
    if temperature is None:
        temperature = usual
    elif temperature != usual:
        name = f"{name}~{temperature:g}"
    try:
        return PolicyAgent(
            name, game, network, card, temperature=temperature, views=views, device=device
        )
    except ValueError as error:
        raise ValueError(f"{folder}: {error}") from error
