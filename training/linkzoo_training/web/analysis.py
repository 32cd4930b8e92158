"""Analysis of positions by an agent and by the exact solver."""

import numpy as np

from linkzoo import Game, GameRecord, Positions
from linkzoo.core.solver import OutOfReachError
from linkzoo.core.state import Record
from linkzoo.registry import id_of
from linkzoo_training.agents.policy import PolicyAgent, SearchAgent
from linkzoo_training.agents.values import SOLVER_LIMIT, values_along
from linkzoo_training.search.solver import solve
from linkzoo_training.web.players import Player
from linkzoo_training.web.views import Json, moves


def analyse(player: Player, game: Game, state: Record) -> Json:
    """Returns move probabilities and visits, values by seat in -1..1, and the exact verdict.

    Uses only information of the seat to act; not even the game's seed. Call it in the player's
    thread.

    Raises:
        ValueError: The agent has no policy, or the game is over.
    """
    agent = player.agent
    if state.seat < 0:
        raise ValueError("the game is over")
    positions = Positions(game, np.array([state], game.state), np.zeros(1, np.uint64))
    if isinstance(agent, SearchAgent):
        shares, values, visits = agent.analyse(positions, player.check)
    elif isinstance(agent, PolicyAgent):
        logits, relative = agent.evaluate(positions)
        shares = logits.softmax(-1)[0].numpy()
        values = np.roll(relative[0].numpy()[: int(state.num_players)], int(state.seat))
        visits = None
    else:
        raise ValueError(f"{agent.name} has no policy: choose a checkpoint")
    legal = np.flatnonzero(positions.action_mask[0]).tolist()
    order = sorted(legal, key=lambda action: -float(shares[action]))
    result: Json = {
        "agent": agent.name,
        "seat": int(state.seat),
        "values": [round(float(v), 4) for v in values[: int(state.num_players)].clip(-1, 1)],
        "moves": [
            {
                **move,
                "share": round(float(shares[action]), 5),
                "visits": None if visits is None else int(visits[action]),
            }
            for action, move in zip(order, moves(game, state, order), strict=True)
        ],
        "exact": None,
        "notes": agent.untrained(positions.states),
    }
    if game.solver is not None:
        result["exact"] = _exact(game, state)
    return result


def along(player: Player, record: GameRecord) -> Json:
    """Returns each seat's value in every position of a game. Call it in the player's thread."""
    return values_along(player.agent, record).to_dict()


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
