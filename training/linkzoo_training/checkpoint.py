"""Checkpoints: safetensors and JSON, written whole or not at all, and refused when they don't fit.

A published checkpoint is a folder: `model.safetensors` (weights) and `card.json` (game, network,
how it was trained, measured strength).
"""

import hashlib
import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save
from torch import Tensor

from linkzoo import Game, Positions, VecEnv, get_game
from linkzoo.chance import STREAM_ACTION, word
from linkzoo_training.networks import PolicyValueNet, make_network, masked
from linkzoo_training.resources import find_checkpoint
from linkzoo_training.search.exact import side_solver
from linkzoo_training.search.gumbel import GumbelSearch
from linkzoo_training.symmetries import symmetries

FORMAT = "linkzoo-checkpoint/1"
SOLVER_LIMIT = 300_000  # positions to solve one (GumbelSearch), in searches at play time
_MOST_BYTES = 2**28  # of the trees that a search grows side by side
_FINGERPRINT_GAMES = 32


@cache
def fingerprints(game: Game) -> dict[str, str]:
    """What a policy relies on, as hashes: of the rules, and of the observation.

    They are SHA-256 of the masks, seats and payoffs, and of the observations, along fixed random
    games of every number of players: a change of behaviour changes them, a change of code alone
    doesn't.
    """
    rules, seen = hashlib.sha256(), hashlib.sha256()
    seen.update(json.dumps([vars(piece) for piece in game.observation.pieces]).encode())
    for players in range(game.min_players, game.max_players + 1):
        vec = VecEnv(game.name, _FINGERPRINT_GAMES, players, **game.fixed)
        now, generator = vec.reset(0), np.random.Generator(np.random.PCG64(0))
        for _ in range(game.max_length + 1):
            rules.update(now.action_mask.tobytes() + now.seat.tobytes() + now.reward.tobytes())
            seen.update(now.observation.tobytes())
            chances = generator.random(now.action_mask.shape) * now.action_mask
            now = vec.step(chances.argmax(1))
    return {"rules": rules.hexdigest(), "observation": seen.hexdigest()}


def write_atomically(path: Path, data: bytes) -> None:
    """Writes a file under another name, then renames it: readers see the old one or the new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".part")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


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
    """Writes tensors and JSON data to one safetensors file."""
    write_atomically(path, pack(tensors, meta))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Reads what `save_tensors` wrote; ValueError if the file is damaged."""
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            meta = json.loads((file.metadata() or {}).get("json", "{}"))
    except (SafetensorError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    return tensors, meta


def save_checkpoint(
    folder: Path, network: PolicyValueNet, game: Game, card: Mapping[str, Any]
) -> None:
    """Writes a published checkpoint.

    `card` holds at least `network` (kind, width, blocks), the arguments of `make_network`, and
    `views`, the symmetric views that the agent averages; `margin_weight`, where it isn't 0, is the
    weight of the score margin in the network's values.
    """
    save_tensors(folder / "model.safetensors", network.state_dict(), {})
    full = {
        "format": FORMAT,
        "game": game.name,
        "version": game.version,
        "fixed": dict(game.fixed),
        "fingerprints": fingerprints(game),
        **card,
    }
    save_card(folder, full)


def save_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Writes the whole card of a checkpoint."""
    write_atomically(folder / "card.json", (json.dumps(card, indent=1) + "\n").encode())


def load_card(folder: Path) -> dict[str, Any]:
    """The card of a checkpoint; ValueError if it is damaged or of another format."""
    path = folder / "card.json"
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise ValueError(f"{path} is no card of format {FORMAT}")
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
            words = np.array([word(seed, STREAM_ACTION, 0) for seed in seeds], np.uint64)
            uniform = torch.from_numpy((words >> np.uint64(11)) / 2.0**53)  # below 1 as a double
            chances = torch.softmax(logits.double() / self.temperature, -1).cumsum(-1)
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
        """Logits [N, A] and values [N, P] of features [N, F], on the CPU."""
        with torch.no_grad():
            logits, values = self.network(torch.from_numpy(features).to(self.device))
        return logits.float().cpu(), values.float().cpu()


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
        bytes_of_one = 4 * (simulations + 1) * policy.game.num_actions
        bytes_of_one += sum(part.nbytes for part in memory)
        self._count = max(1, _MOST_BYTES // bytes_of_one)
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
    """Gives a network the weights of a checkpoint; ValueError names what doesn't fit."""
    tensors, _ = load_tensors(folder / "model.safetensors")
    expected = {name: list(tensor.shape) for name, tensor in network.state_dict().items()}
    found = {name: list(tensor.shape) for name, tensor in tensors.items()}
    wrong = sorted(
        name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)
    )
    if wrong:
        raise ValueError(
            f"{folder}: {wrong[0]} has shape {found.get(wrong[0])}, the network's has "
            f"{expected.get(wrong[0])}"
        )
    network.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})


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
    game = get_game(card["game"], card["fixed"])
    for what, value in fingerprints(game).items():
        if card["fingerprints"].get(what) != value:
            raise ValueError(
                f"{folder} was trained for other {what}: its fingerprint is "
                f"{card['fingerprints'].get(what)!r}, that of this package's {game.name} {value!r}"
            )
    network = make_network(game, **card["network"])
    load_weights(network, folder)
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
    return PolicyAgent(
        name, game, network, card, temperature=temperature, views=views, device=device
    )
