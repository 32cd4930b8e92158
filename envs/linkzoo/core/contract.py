"""The parts of a game (`linkzoo.core.game.Game`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core import protocols
from linkzoo.core.arguments import boolean
from linkzoo.core.observation import ObservationSpec


def each_for_itself(num_players: int) -> tuple[int, ...]:
    """Returns sides for games without teams: each seat is a side."""
    return tuple(range(num_players))


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The compiled rules (`linkzoo.compiled`); signatures are in `linkzoo.core.protocols`.

    Attributes:
        new_game: Sets up a game.
        legal_actions: Fills the mask of legal actions.
        apply: Plays a legal action.
        certain: Plays the part of a legal action that is decided by information of the seat to act
            alone, such as a placed tile without the draw after it: the result looks the same to
            that seat in all worlds that it can't tell apart. It equals the result of `apply` where
            neither chance nor hidden information has a part. None: `apply` in a game without hidden
            information and chance; in others nothing is certain.
        scores: Fills the scores at any ply: integers, equal for seats on the same side. None: the
            game has no scores.
        payoffs: Fills the payoffs at the end, zero-sum in -1..1. None: derived from the winners and
            the sides.
        score_margins: Fills own score less the mean of the other sides', divided by the facts'
            `score_scale`, at any ply. None: derived from the scores, else from the payoffs.
        determinize: Samples a world consistent with a seat's information. None, in a game without
            hidden information and chance: sets the seed.
        reshuffle: Draws future chance anew and keeps all hands; for a yardstick that sees hands.
            None, in a game without hidden information: `determinize`.
        heuristic: Rates an action for a seat. None: the score margin after it.
        validate: Returns a record's error. None: only checks that a seat is to act if and only if
            an action is legal.
    """

    new_game: protocols.NewGame
    legal_actions: protocols.LegalActions
    apply: protocols.Apply
    certain: protocols.Apply | None = None
    scores: protocols.SeatValues | None = None
    payoffs: protocols.SeatValues | None = None
    score_margins: protocols.SeatValues | None = None
    determinize: protocols.Determinize | None = None
    reshuffle: protocols.Determinize | None = None
    heuristic: protocols.Heuristic | None = None
    validate: protocols.Validate | None = None


@dataclass(frozen=True, kw_only=True)
class Observation:
    """Observations of a seat.

    Attributes:
        spec: The layout of an observation.
        observe: Fills a seat's observation (compiled).
        privileged_spec: The layout of the information hidden from a seat, for privileged critics.
            None: nothing is hidden.
        reveal: Fills the information hidden from a seat (compiled).
        action_spec: The layout of the features of a legal action: its consequences, as far as the
            seat to act can know them. Parts that are `broadcast` are equal for all actions of a
            position. None: the game has no action features.
        observe_action: Fills the features of a legal action, int8 (compiled).
        action_cells: int64[num_actions] or int64[num_actions, K], each action's place or K places
            on the board of an observation [C, H, W], or on the graph: plane * cells + cell, in
            separate action planes; -1 for none. None: there is no board and no graph.
        graph: Returns the graph of the observation.
        symmetries: Returns index arrays of the standard options (observations int64[S, size],
            actions int64[S, num_actions], privileged int64[S, privileged size]), the identity
            first: in the position that symmetry s makes, a seat sees
            `flat_observation[observations[s]]`, action a is `actions[s, a]`, and `reveal` gives
            `revealed[privileged[s]]`.
    """

    spec: ObservationSpec
    observe: protocols.Observe
    privileged_spec: ObservationSpec | None = None
    reveal: protocols.Observe | None = None
    action_spec: ObservationSpec | None = None
    observe_action: protocols.ObserveAction | None = None
    action_cells: NDArray[np.int64] | None = None
    graph: protocols.MakeGraph | None = None
    symmetries: protocols.Symmetries | None = None

    def __post_init__(self) -> None:
        if (self.privileged_spec is None) != (self.reveal is None):
            raise ValueError("privileged_spec and reveal: a game has both or neither")
        if (self.action_spec is None) != (self.observe_action is None):
            raise ValueError("action_spec and observe_action: a game has both or neither")
        if self.graph is not None and self.action_cells is None:
            raise ValueError("graph: action_cells must say where the actions lie")


@dataclass(frozen=True, kw_only=True)
class Notation:
    """Moves as text and positions as JSON, both ways, in plain Python.

    Attributes:
        action_to_text: Returns the text of an action; ValueError if there is no such action.
        text_to_action: Returns the action of a text; ValueError if it isn't a move.
        action_parts: Returns the elements that a person selects to make an action, in order: names
            of SVG elements (`data-part`), or choices in words that aren't in the drawing. No legal
            action's names may be a subset of another's.
        to_dict: The position as JSON. None: the record's fields; a seat's view lacks hidden fields
            (`Field.hidden`).
        from_dict: Parses the result of `to_dict`; ValueError names an unreadable field. The game
            validates the record.
        unordered: Keys of `to_dict` with lists that `from_dict` accepts in any order.
    """

    action_to_text: protocols.ActionToText
    text_to_action: protocols.TextToAction
    action_parts: protocols.ActionParts | None = None
    to_dict: protocols.ToDict | None = None
    from_dict: protocols.FromDict | None = None
    unordered: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.to_dict is None) != (self.from_dict is None):
            raise ValueError("to_dict and from_dict: a game has both or neither")


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Drawings for people, in plain Python.

    In an SVG, `data-part` names the elements that a person selects (`Notation.action_parts`), and
    `data-item` the items of `Guide.touched`; an item keeps its name from ply to ply. Colours follow
    the `color-scheme` around the SVG (see `linkzoo.svg.elements.document`).

    Attributes:
        text: The position as lines of text.
        svg: The position as an SVG document. None: the text as SVG.
        page: The same for a page that shows the game's name, the turn and the prompt beside it:
            without them, and with letters of 12 at a width of 896. None: `svg`.
        tall: The same for a narrow screen, such as a phone: hands under the board, large letters.
            None: `svg`.
    """

    text: protocols.Draw
    svg: protocols.Draw | None = None
    page: protocols.Draw | None = None
    tall: protocols.Draw | None = None


@dataclass(frozen=True, kw_only=True)
class Chance:
    """The chance of a game, declared so that all its outcomes can be enumerated (`linkzoo.exact`).

    The rules draw by `rng.below` and `rng.shuffle` alone. They draw from a shuffled pile by taking
    the last of the items left, and nobody knows the order of those.

    Attributes:
        pile: The field that holds the pile, or several piles one behind the other. None: whatever
            the rules shuffle counts with its whole order.
        size: The field with the number of items left, or an element for each pile.
        starts: Where each pile begins in its field.
    """

    pile: str | None = None
    size: str | None = None
    starts: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        if (self.pile is None) != (self.size is None):
            raise ValueError("pile and size: a chance names both or neither")


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts about a game that can't be derived from its rules.

    Attributes:
        typical_length: Mean number of decisions in a random game.
        max_length: Upper bound on the number of decisions.
        chance: Whether the seed affects games, under any option.
        score_scale: The score difference that counts as 1 in score margins.
        sides: Returns the side of each seat, from 0, for a number of players; seats on a side share
            payoffs and win together.
        seat_names: Roles of the seats, such as ("More", "Fewer").
        role_options: Options that, if not standard, make roles chosen in play.
        playout_options: Options, with values that end a game sooner with a result that is still
            informative, or that sample likelier worlds. A search may play on under them.
        playout_plies: Plies after which score margins, or a critic of the position, tell better
            play from worse, so that a search may end its playouts there. None: they go on to the
            end.
        balanced_options: Options that give all sides the most equal chances between good players,
            where the standard ones don't; the page for people begins with them.
        open_moves: Whether all seats see all moves, though something else is hidden, such as hands.
        summary: The game in one sentence for somebody who doesn't know it.
        minutes: How long people play with two players, about; 0: unknown.
        uct_c: The best exploration constant of UCB1 for tree search with random rollouts, on
            payoffs of -1..1.
    """

    typical_length: int
    max_length: int
    chance: bool = True
    score_scale: int = 1
    sides: protocols.Sides = each_for_itself
    seat_names: tuple[str, ...] = ()
    role_options: tuple[str, ...] = ()
    playout_options: Mapping[str, int] = field(default_factory=dict)
    playout_plies: int | None = None
    balanced_options: Mapping[str, Any] = field(default_factory=dict)
    open_moves: bool = False
    summary: str = ""
    minutes: int = 0
    uct_c: float = 1.0  # good for most of the tuned games

    def __post_init__(self) -> None:
        boolean("chance", self.chance)
        boolean("open_moves", self.open_moves)
