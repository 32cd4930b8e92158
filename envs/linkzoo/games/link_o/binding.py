"""The compiled rules and observations of LINK-O on a board: `make_rules`, `make_observation`."""

from functools import cache

import numpy as np

from linkzoo.core.contract import Observation, Rules
from linkzoo.engine.compiled import Rebound, rebind
from linkzoo.games.link_o import action_features, determinize, heuristic, observation, validation
from linkzoo.games.link_o.board import Board
from linkzoo.games.link_o.components import CODES
from linkzoo.games.link_o.graph import graph
from linkzoo.games.link_o.observation_spec import PRIVILEGED_SPEC, make_spec
from linkzoo.games.link_o.rules import placement, turns
from linkzoo.games.link_o.symmetry import symmetries
from linkzoo.games.link_o.tables import board_tables

# All modules whose compiled functions use the board, or call functions that do.
_MODULES = (placement, turns, heuristic, validation, determinize, observation, action_features)


@cache
def bind(board: Board) -> Rebound:
    """Binds all compiled functions to a board."""
    return rebind(_MODULES, {"BOARD": board_tables(board)})


def make_rules(board: Board) -> Rules:
    """Returns the rules on a board."""
    bound = bind(board)
    return Rules(
        new_game=bound(turns.new_game),
        legal_actions=bound(turns.legal_actions),
        apply=bound(turns.apply),
        certain=bound(turns.lay),
        scores=bound(turns.scores),
        determinize=bound(determinize.determinize),
        reshuffle=bound(determinize.reshuffle),
        heuristic=bound(heuristic.heuristic),
        validate=bound(validation.validate),
    )


def make_observation(board: Board) -> Observation:
    """Returns the observations on a board."""
    bound = bind(board)
    spec = make_spec(board)
    actions = np.arange(CODES * len(board.spaces))
    return Observation(
        spec=spec,
        observe=bound(observation.observe),
        privileged_spec=PRIVILEGED_SPEC,
        reveal=bound(observation.reveal),
        action_spec=action_features.ACTION_SPEC,
        observe_action=bound(action_features.action_features),
        action_cells=actions.reshape(CODES, -1).T.ravel(),
        graph=lambda: graph(board, spec),
        symmetries=lambda: symmetries(board, spec, PRIVILEGED_SPEC),
    )
