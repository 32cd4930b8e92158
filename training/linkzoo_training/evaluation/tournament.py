"""Round-robin tournaments.

Each finished match is written to the tournament's folder, so an interrupted tournament resumes.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import get_game
from linkzoo.core.files import write_atomically
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.specs import AgentSpec, game_digest
from linkzoo_training.agents.trained_on import note_untrained
from linkzoo_training.evaluation.match import play_match
from linkzoo_training.evaluation.openings import openings_digest, standard_openings
from linkzoo_training.evaluation.ratings import Pairing
from linkzoo_training.evaluation.result import variants_of
from linkzoo_training.search import uct
from linkzoo_training.selfplay.dispatch import TaskWorker
from linkzoo_training.selfplay.executors import Executor, LocalExecutor


@dataclass(frozen=True)
class Tournament:
    """The settings of a tournament.

    Attributes:
        game: The game's name.
        agents: The agents, at least two.
        blocks: Blocks of each match, as in `Match`.
        seed: The seed of each match.
        num_players: The number of players; None for the game's minimum.
        openings: The openings of each match, as in `Match`.
        options: Options of the game, as in `Match`.

    Raises:
        ValueError: There are fewer than two agents, or equal ones.
    """

    game: str
    agents: tuple[AgentSpec, ...]
    blocks: int
    seed: int
    num_players: int | None
    openings: str | None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.agents) < 2 or len(set(self.agents)) < len(self.agents):
            raise ValueError(f"agents: {self.names} are not two or more different ones")

    @property
    def names(self) -> list[str]:
        """The agents' names."""
        return [str(agent) for agent in self.agents]

    @property
    def played_openings(self) -> str:
        """The openings, also if the settings leave them to the game."""
        rules = get_game(self.game, variants_of(self.options)[0])
        return self.openings or standard_openings(rules)

    @property
    def players(self) -> int:
        """The number of players, also if the settings leave it to the game."""
        return int(self.blanks[0]["num_players"])

    @property
    def sides(self) -> int:
        """The number of sides."""
        return len(get_game(self.game).one_of_each_side(self.players))

    @property
    def blanks(self) -> NDArray[Any]:
        """A record with the options of each variant, before its set-up."""
        variants = variants_of(self.options)
        game = get_game(self.game, variants[0])
        return np.array([game.blank(self.num_players, variant) for variant in variants])

    def make_agent(self, agent: AgentSpec) -> NamedAgent:
        """Makes one of the agents; ValueError if it doesn't exist, or is a person."""
        agent.check(self.game, human=False)
        return NamedAgent(agent, self.game, variants_of(self.options)[0])

    def pairs(self) -> list[tuple[int, int]]:
        """Returns the matches as indices of agents: each pair once, or both ways for 3+ sides."""
        agents = range(len(self.agents))
        if self.sides > 2:
            return list(permutations(agents, 2))
        return list(combinations(agents, 2))


def run_tournament(
    settings: Tournament,
    folder: Path,
    progress: Callable[[str, int, int], None] = lambda *_: None,
    executor: Executor | None = None,
) -> list[Pairing]:
    """Plays the matches that are missing in the folder; Ctrl-C keeps the finished ones.

    Args:
        settings: The tournament.
        folder: The folder; results are in its folder `matches`.
        progress: Called as `progress(match, finished, matches)` after each match.
        executor: Plays the matches; None for this process.

    Returns:
        The games of each match.

    Raises:
        ValueError: An agent doesn't exist, or the file of a match is damaged; raised before any
            match is played.
    """
    for agent in settings.agents:
        note_untrained(settings.make_agent(agent), settings.blanks)
    if executor is None:
        executor = LocalExecutor()
    pairs = settings.pairs()
    matches = [(settings.agents[a], settings.agents[b]) for a, b in pairs]
    paths = [folder / "matches" / f"{_digest(settings, *match)}.json" for match in matches]
    shares = {number: _read(path, settings) for number, path in enumerate(paths) if path.is_file()}
    missing = [number for number in range(len(pairs)) if number not in shares]
    tasks = [partial(_play, settings, *matches[number]) for number in missing]
    executor.start(TaskWorker)
    names = [" against ".join(map(str, matches[number])) for number in missing]
    results = executor.play(None, tasks, names=names)
    for finished, (index, result) in enumerate(results, 1 + len(shares)):
        number = missing[index]
        write_atomically(paths[number], (json.dumps(result) + "\n").encode())
        shares[number] = np.array(result["block_shares"])
        a, b = matches[number]
        progress(f"{a} against {b}", finished, len(pairs))
    return [Pairing(a, b, shares[number]) for number, (a, b) in enumerate(pairs)]


def _play(settings: Tournament, a: AgentSpec, b: AgentSpec) -> dict[str, Any]:
    """Returns the result of a match between two agents as JSON data."""
    return play_match(
        settings.game,
        settings.make_agent(a),
        settings.make_agent(b),
        settings.blocks,
        seed=settings.seed,
        openings=settings.openings,
        num_players=settings.num_players,
        options=settings.options,
    ).to_dict()


def _digest(settings: Tournament, a: AgentSpec, b: AgentSpec) -> str:
    """Returns a match's file name: a hash of all its settings."""
    rules = get_game(settings.game, variants_of(settings.options)[0])
    versions: list[int | str] = [rules.version, uct.VERSION]
    if rules is not get_game(settings.game):
        versions.append(rules.fixed.digest)  # of the board or cards
    if (digest := game_digest(settings.game)) is not None:
        versions.append(digest)
    match = [settings.game, versions, settings.blocks, settings.seed, settings.num_players]
    agents = [str(a), str(b), a.digest(settings.game), b.digest(settings.game)]
    openings = [settings.played_openings, openings_digest(settings.openings)]
    text = json.dumps([*match, *openings, dict(settings.options), *agents])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _read(path: Path, settings: Tournament) -> NDArray[np.float64]:
    """Returns the win shares [B, V, n] in a match's file; ValueError if it is damaged."""
    shape = (settings.blocks, len(variants_of(settings.options)), settings.sides)
    try:
        shares = np.array(json.loads(path.read_bytes())["block_shares"], np.float64)
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}; delete it to repeat the match") from error
    if shares.shape != shape or not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError(
            f"{path} is damaged: its block_shares are not {list(shape)} numbers in 0..1; delete it "
            "to repeat the match"
        )
    return shares
