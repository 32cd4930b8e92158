"""Positions of LINK-O as JSON, both ways (section "JSON" of RULES.md)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkzoo.core.arguments import boolean, check_keys, integer, mapping, sequence, shown, string
from linkzoo.core.positions import (
    JsonHeader,
    SharedViews,
    none_or_integer,
    or_none,
    read_winners,
)
from linkzoo.core.state import Record, winners_of
from linkzoo.games.link_o.binding import bind
from linkzoo.games.link_o.board import BAG, BOARDS, HAND, Board
from linkzoo.games.link_o.components import NONE, TYPES, VALUES, WILD, set_of
from linkzoo.games.link_o.notation import laid_texts, tile_texts
from linkzoo.games.link_o.options import MAX_ROUNDS
from linkzoo.games.link_o.rules.placement import clear_board, place, placeable
from linkzoo.games.link_o.rules.tiles import put_in_hand
from linkzoo.games.link_o.state import MAX_SCORE, NOT_YET

_HOW = (None, "out", "blocked")  # how a round ended, by the number in the record
_MAX_POINTS = 2**15 - 1
_FIELDS = (
    "game version options seed num_players seat ply round starter scores hands bag board "
    "first_turn lacks dug passed last_round winners"
).split()


class PositionJson:
    """The positions on a board as JSON, both ways.

    Args:
        board: The board.
        header: The fields that all positions begin with.

    Attributes:
        view: Returns the same as `to_dict`, but to be read only.
    """

    def __init__(self, board: Board, header: JsonHeader) -> None:
        bound = bind(board)
        self._header = header
        self._place = bound(place)
        self._placeable = bound(placeable)
        self._connectors = set(board.connectors)
        self._tiles = tile_texts(board)
        self._laid = laid_texts(board)
        self._types = {text: tile for tile, text in enumerate(self._tiles)}
        self._spaces = {str(space): space for space in range(len(board.spaces))}
        self._shipped = header.fixed["board"] in BOARDS.names()
        self.view = SharedViews(self.to_dict)

    def to_dict(self, state: Record, seat: int | None = None) -> dict[str, Any]:
        """Returns the position as JSON data.

        Args:
            state: The record.
            seat: The observer, who sees only the numbers of tiles in the other hands and the bag,
                and neither seed nor ply. None: the referee, who sees everything.
        """
        players = range(int(state.num_players))
        hands: list[Any] = [self._texts(state.held[p], state.twice[p]) for p in players]
        bag: Any = [self._tiles[tile] for tile in state.bag[: state.bag_size][::-1]]
        if seat is not None:
            hands = [hand if other == seat else len(hand) for other, hand in enumerate(hands)]
            bag = len(bag)
        occupied = np.flatnonzero(state.code != NONE).tolist()
        lacks = state.lacks[: len(players)].tolist()
        if state.seat != NONE and state.dug[state.seat]:
            # The seat has drawn a tile that it can place, of a type that only it knows.
            lacks[state.seat] &= ~int(self._placeable(state, state.first_turn[state.seat]))
        data = {
            **self._header.write(state, seat),
            "round": int(state.round_number),
            "starter": int(state.starter),
            "scores": state.scores[: len(players)].tolist(),
            "hands": hands,
            "bag": bag,
            "board": {str(space): self._placed(state, space) for space in occupied},
            "first_turn": state.first_turn[: len(players)].astype(bool).tolist(),
            "lacks": [self._texts(types) for types in lacks],
            "dug": state.dug[: len(players)].tolist(),
            "passed": state.passed[: len(players)].astype(bool).tolist(),
            "last_round": None,
            "winners": winners_of(state),
        }
        if state.last_how != NOT_YET:
            data["last_round"] = {
                "winner": or_none(state.last_winner),
                "points": int(state.last_points),
                "how": _HOW[state.last_how],
            }
        if seat is not None:
            del data["ply"]
        if not self._shipped:
            data["digest"] = f"{self._header.digest:012x}"
        return data

    def _texts(self, once: Any, twice: Any = 0) -> list[str]:
        """Returns the tiles of a set of types, in order; two tiles of each type in `twice`."""
        types = int(once)
        doubled = int(twice)
        texts = []
        for tile, text in enumerate(self._tiles):
            if types >> tile & 1:
                texts.append(text)
            if doubled >> tile & 1:
                texts.append(text)
        return texts

    def _placed(self, state: Record, space: int) -> dict[str, Any]:
        """Returns the tile on a space; a LINK-O on a connector has a value."""
        code = int(state.code[space])
        entry: dict[str, Any] = {"tile": self._laid[space][code]}
        if code == WILD and space in self._connectors:
            entry["value"] = or_none(state.value[space])
        entry["by"] = int(state.owner[space])
        return entry

    def from_dict(self, data: Mapping[str, Any]) -> Record:
        """Reads the record of the referee's `to_dict`; ValueError names an unreadable field."""
        state = self._header.read(data, _FIELDS, optional=("digest",))
        self._read_seats(state, data)
        last_seat = int(state.num_players) - 1
        state.seat = none_or_integer("seat", data["seat"], 0, last_seat)
        state.winners = read_winners(data["winners"], last_seat + 1)
        state.round_number = integer("round", data["round"], 1, MAX_ROUNDS)
        state.starter = integer("starter", data["starter"], 0, last_seat)
        bag = sequence("bag", data["bag"], 0, BAG)
        state.bag[:] = NONE
        state.bag[: len(bag)] = [self._tile("bag", text) for text in reversed(bag)]
        state.bag_size = len(bag)
        self._read_board(state, mapping("board", data["board"]))
        last = data["last_round"]
        state.last_winner = NONE
        if last is not None:
            check_keys("last_round", last, ("winner", "points", "how"))
            if last["how"] not in _HOW[1:]:
                raise ValueError(f"last_round: how: {shown(last['how'])} is not in {_HOW[1:]}")
            state.last_how = _HOW.index(last["how"])
            state.last_points = integer("last_round: points", last["points"], 0, _MAX_POINTS)
            state.last_winner = none_or_integer("last_round: winner", last["winner"], 0, last_seat)
        if state.seat != NONE and state.dug[state.seat]:  # `to_dict` omits these types
            state.lacks[state.seat] |= np.uint64(
                self._placeable(state, state.first_turn[state.seat])
            )
        return state

    def _read_seats(self, state: Record, data: Mapping[str, Any]) -> None:
        """Reads the fields that have an item per seat."""
        players = int(state.num_players)

        def items(name: str) -> list[tuple[int, str, Any]]:
            """Returns each seat, the name of its item, and the item."""
            values = sequence(name, data[name], players, players)
            return [(seat, f"{name}[{seat}]", value) for seat, value in enumerate(values)]

        for name, high in (("scores", MAX_SCORE), ("dug", BAG)):
            for seat, label, number in items(name):
                state[name][seat] = integer(label, number, 0, high)
        for name in ("first_turn", "passed"):
            for seat, label, flag in items(name):
                state[name][seat] = boolean(label, flag)
        for seat, label, lacks in items("lacks"):
            texts = sequence(label, lacks, 0, TYPES)
            state.lacks[seat] = set_of({self._tile(label, text) for text in texts})
        for seat, label, hand in items("hands"):
            for text in sequence(label, hand, 0, HAND + BAG):
                put_in_hand(state, seat, self._tile(label, text))

    def _read_board(self, state: Record, data: Mapping[str, Any]) -> None:
        """Places the tiles in the order of the spaces; any order gives the same values."""
        for text in data:
            if text not in self._spaces:
                raise ValueError(
                    f"board: no space {shown(text)}; there are '0'..'{len(self._spaces) - 1}'"
                )
        clear_board(state)
        for text, space in self._spaces.items():
            if text in data:
                entry = data[text]
                label = f"board: {space}"
                check_keys(label, entry, ("tile", "by"), ("value",))
                tile = string(f"{label}: tile", entry["tile"])
                if tile not in self._laid[space]:
                    raise ValueError(f"{label}: no tile {shown(tile)} of its colour")
                owner = integer(f"{label}: by", entry["by"], 0, int(state.num_players) - 1)
                self._place(state, space, self._laid[space].index(tile), owner)
        for text, entry in data.items():
            if "value" in entry:
                value = none_or_integer(f"board: {text}: value", entry["value"], 0, VALUES - 1)
                state.value[self._spaces[text]] = value

    def _tile(self, label: str, text: Any) -> int:
        """Returns the type of a tile in the field that the label names."""
        if not isinstance(text, str) or text not in self._types:
            raise ValueError(f"{label}: no tile {shown(text)}")
        return self._types[text]
