"""Analysis of positions by an agent and by the exact solver."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, GameRecord, Positions
from linkzoo.core.solver import OutOfReachError
from linkzoo.core.state import Record
from linkzoo.exact import TabularAgent
from linkzoo.registry import id_of
from linkzoo_training.agents.linear import LinearAgent
from linkzoo_training.agents.policy import PolicyAgent, PolicySearch
from linkzoo_training.agents.values import SOLVER_LIMIT, values_along
from linkzoo_training.search.solver import solve
from linkzoo_training.web.players import Player
from linkzoo_training.web.views import Json, moves


class _Opinion(NamedTuple):
    """What an agent thinks of a position.

    Attributes:
        shares: The probability of each action [A].
        values: The payoff of each seat, -1..1; None where the agent doesn't say it.
        visits: The visits of a search [A].
        worth: The payoff that the seat to act expects of each action [A].
        notes: Sentences about what the agent wasn't trained for.
    """

    shares: NDArray[Any]
    values: list[float | None]
    visits: NDArray[Any] | None = None
    worth: NDArray[Any] | None = None
    notes: Sequence[str] = ()


def analyse(player: Player, game: Game, state: Record) -> Json:
    """Returns move probabilities, visits and values, values by seat, and the exact verdict.

    Values are payoffs, -1..1. Uses only information of the seat to act; not even the game's seed.
    Call it in the player's thread.

    Raises:
        ValueError: The agent has no policy, or the game is over.
    """
    if state.seat < 0:
        raise ValueError("the game is over")
    positions = Positions(game, np.array([state], game.state), np.zeros(1, np.uint64))
    opinion = _opinion(player, positions)
    legal = np.flatnonzero(positions.action_mask[0]).tolist()
    order = sorted(legal, key=lambda action: -float(opinion.shares[action]))
    result: Json = {
        "agent": player.agent.name,
        "seat": int(state.seat),
        "values": [None if v is None else round(min(1, max(-1, v)), 4) for v in opinion.values],
        "moves": [
            {
                **move,
                "share": round(float(opinion.shares[action]), 5),
                "visits": None if opinion.visits is None else int(opinion.visits[action]),
                "value": None if opinion.worth is None else round(float(opinion.worth[action]), 4),
            }
            for action, move in zip(order, moves(game, state, order), strict=True)
        ],
        "chances": None,
        "exact": None,
        "notes": list(opinion.notes),
    }
    if None not in opinion.values:
        values = np.array([opinion.values], np.float64)
        result["chances"] = rounded_chances(game, int(state.num_players), values)[0]
    if game.solver is not None:
        result["exact"] = _exact(game, state)
    return result


def _opinion(player: Player, positions: Positions) -> _Opinion:
    agent = player.agent
    seat = int(positions.states["seat"][0])
    players = int(positions.num_players[0])
    if isinstance(agent, TabularAgent):
        shares = agent.probabilities(positions)[0]
        worth = agent.evaluate(positions)[0]
        values: list[float | None] = [None] * players
        if positions.action_mask.sum() > 1:  # the table has no forced moves
            values[seat] = float(shares @ worth)
            if players == 2:
                values[1 - seat] = -float(shares @ worth)
        return _Opinion(shares, values, worth=worth)
    if isinstance(agent, LinearAgent):
        shares, _ = agent.distribution(positions)
        return _Opinion(shares[0], [None] * players)
    if isinstance(agent, PolicySearch):
        shares, by_seat, visits = agent.analyse(positions, player.check)
        notes = agent.untrained(positions.states)
        return _Opinion(shares, by_seat[:players].tolist(), visits, notes=notes)
    if isinstance(agent, PolicyAgent):
        logits, relative = agent.evaluate(positions)
        by_seat = np.roll(relative[0].numpy()[:players], seat)
        notes = agent.untrained(positions.states)
        return _Opinion(logits.softmax(-1)[0].numpy(), by_seat.tolist(), notes=notes)
    raise ValueError(f"{agent.name} has no policy: choose a checkpoint")


def along(player: Player, record: GameRecord) -> Json:
    """Returns each seat's value in every position of a game. Call it in the player's thread."""
    return values_along(player.agent, record).to_dict()


def chances(game: Game, num_players: int, payoffs: NDArray[Any]) -> NDArray[Any]:
    """Returns the chances to win that expected payoffs stand for, 0 to 1.

    A payoff is 1 for who wins alone, and the same for all who lose.
    """
    losing = -1 / max(game.facts.sides(num_players))
    return ((payoffs - losing) / (1 - losing)).clip(0, 1)


def rounded_chances(
    game: Game, num_players: int, payoffs: NDArray[np.float64]
) -> list[list[float]]:
    """Returns the chances to win of N rows of payoffs as JSON data."""
    rows = chances(game, num_players, payoffs)
    return [[round(float(chance), 3) for chance in row] for row in rows]


def _exact(game: Game, state: Record) -> Json:
    try:
        solution = solve(id_of(game), state, SOLVER_LIMIT, game.fixed.values)
    except OutOfReachError:
        return {"reached": False}
    return {
        "reached": True,
        "winner": solution.winner,
        "winning": [game.notation.action_to_text(state, action) for action in solution.winning],
        "score": solution.score,
    }
