"""LINK-O as text and JSON, both ways (sections "Notation" and "JSON" of RULES.md)."""

from collections import Counter
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from linkzoo.engine.compiled import Record
from linkzoo.core.arguments import agrees, boolean, check_keys, integer, sequence, shown, string
from linkzoo.games.link_o.board import Board, shipped
from linkzoo.games.link_o.options import MAX_ROUNDS, Options
from linkzoo.games.link_o.pieces import (
    ALL_TILES,
    ENDS,
    HAND,
    KIND,
    KINDS,
    LINKO,
    MAX_PLAYERS,
    NONE,
    TILES,
    WILD,
    word,
)
from linkzoo.games.link_o.rules import OUT
from linkzoo.games.link_o.table import MAX_SCORE, STATE
from linkzoo.core.positions import Head, or_none, winners_of

NAME, VERSION = "link_o", 1
_HOW = (None, "out", "blocked")  # how a round ended, by number in the record
_CODES = [*(f"{left}-{right}" for left, right in ENDS), "LINK-O"]
_MAX_POINTS = 2**15 - 1
_FIELDS = (
    "game version options num_players seat round starter scores hands bag board first_turn lacks "
    "dug passed last_round winners"
).split()


class Notation:
    """Moves and positions on one board.

    `fixed` are the options that are compiled in, with their `digest`, `rules` the compiled
    functions of the record.
    """

    def __init__(
        self, board: Board, fixed: Mapping[str, Any], digest: int, rules: SimpleNamespace
    ) -> None:
        length = MAX_ROUNDS * len(board.spaces)
        self._head = Head(NAME, VERSION, Options, STATE, 2, MAX_PLAYERS, length, fixed, digest)
        self._rules = rules
        self._connectors = set(board.connectors)
        self._circles = [space.circle for space in board.spaces]
        self._spaces = [str(space) for space in range(len(board.spaces))]
        # By type, by space and code, and by action.
        kinds, colours = [*_CODES[:LINKO], _CODES[WILD]], board.colours
        self._tiles = [f"{colour} {kind}" for colour in colours for kind in kinds]
        self._laid = [[f"{colours[circle]} {code}" for code in _CODES] for circle in self._circles]
        self._moves = [f"@{space} {text}" for space, laid in enumerate(self._laid) for text in laid]
        self._types = {text: tile for tile, text in enumerate(self._tiles)}
        self._actions = {text: action for action, text in enumerate(self._moves)}

    # Moves

    def action_to_text(self, state: Record, action: int) -> str:
        """`@5 red 1-3`: on space 5, left end 1, right end 3; ValueError outside the actions."""
        return self._moves[integer("action", action, 0, len(self._moves) - 1)]

    def action_parts(self, state: Record, action: int) -> tuple[str, ...]:
        """The tile in the hand, the space, and how the tile lies there, left end first."""
        space, colour, ends = self.action_to_text(state, action).split(" ")
        code = _CODES.index(ends)
        kind = _CODES[WILD] if code == WILD else _CODES[KIND[code]]
        return f"{colour} {kind}", space, ends

    def text_to_action(self, state: Record, text: str) -> int:
        """The action of a move's text; ValueError if it is none on this board."""
        if string("move", text) not in self._actions:
            raise ValueError(
                f"no move {shown(text)}; moves are like {self._moves[1]!r} and "
                f"{self._moves[WILD]!r}: a space, its colour, and a tile, left end first"
            )
        return self._actions[text]

    # Positions to JSON

    def to_dict(self, state: Record, seat: int | None = None) -> dict[str, Any]:
        """The position as JSON data.

        A `seat` sees the numbers of tiles in the other hands and the bag, neither seed nor ply.
        """
        players = range(int(state.num_players))
        hands: list[Any] = [self._hand(state, other) for other in players]
        bag: Any = [self._tiles[tile] for tile in state.bag[: state.bag_size][::-1]]
        if seat is not None:
            hands = [hand if other == seat else len(hand) for other, hand in enumerate(hands)]
            bag = len(bag)
        data = {
            **self._head.write(state),
            "seat": or_none(state.seat),
            "ply": int(state.ply),
            "round": int(state.round_number),
            "starter": int(state.starter),
            "scores": state.scores[: len(players)].tolist(),
            "hands": hands,
            "bag": bag,
            "board": {str(space): self._placed(state, space) for space in self._occupied(state)},
            "first_turn": [bool(state.first_turn[other]) for other in players],
            "lacks": [self._texts(self._rules.lacking(state, other)) for other in players],
            "dug": state.dug[: len(players)].tolist(),
            "passed": [bool(state.passed[other]) for other in players],
            "last_round": _last_round(state),
            "winners": winners_of(state),
        }
        if seat is not None:
            del data["seed"], data["ply"]
        if self._head.fixed["board"] not in shipped():
            data["digest"] = f"{self._head.digest:012x}"
        return data

    def _texts(self, types: Any) -> list[str]:
        """The types of a word, in order."""
        bits = int(types)
        return [text for tile, text in enumerate(self._tiles) if bits >> tile & 1]

    def _hand(self, state: Record, seat: int) -> list[str]:
        """The tiles of a hand by type."""
        twice = self._texts(state.twice[seat])
        return [text for text in self._texts(state.held[seat]) for _ in range(1 + (text in twice))]

    def _occupied(self, state: Record) -> list[int]:
        spaces: list[int] = np.flatnonzero(state.code != NONE).tolist()
        return spaces

    def _placed(self, state: Record, space: int) -> dict[str, Any]:
        """The tile on a space; a LINK-O on a connector has a value."""
        code = int(state.code[space])
        value = {"value": or_none(state.value[space])} if self._takes_value(space, code) else {}
        return {"tile": self._laid[space][code], **value, "by": int(state.owner[space])}

    def _takes_value(self, space: int, code: int) -> bool:
        return code == WILD and space in self._connectors

    # JSON to positions

    def from_dict(self, data: Mapping[str, Any]) -> Record:
        """The record of the referee's `to_dict`; ValueError names what is wrong, and where."""
        state = self._head.read(data, [*_FIELDS, "seed", "ply"], optional=("digest",))
        self._read_tiles(state, data)
        self._read_board(state, data["board"])
        self._read_known(state, data)
        self._read_match(state, data)
        self._read_turn(state, data)
        return state

    def _read_tiles(self, state: Record, data: Mapping[str, Any]) -> None:
        """Hands and bag; with the board, they hold each tile once."""
        players = int(state.num_players)
        found: Counter[int] = Counter()
        state.bag[:] = NONE
        in_bag = TILES - HAND * players
        for seat, hand in enumerate(sequence("hands", data["hands"], players, players)):
            for text in sequence(f"hands[{seat}]", hand, 0, HAND + in_bag):
                tile = self._tile(f"hands[{seat}]", text)
                found[tile] += 1
                self._rules.put_in_hand(state, seat, tile)
        bag = sequence("bag", data["bag"], 0, in_bag)
        for place, text in enumerate(reversed(bag)):
            tile = self._tile("bag", text)
            state.bag[place] = tile
            found[tile] += 1
        state.bag_size = len(bag)
        if not isinstance(data["board"], Mapping):
            raise ValueError(f"board: {shown(data['board'])} is not a JSON object")
        for where, entry in data["board"].items():
            space = self._space(where)
            code = self._code(space, entry)
            found[self._circles[space] * KINDS + int(KIND[code])] += 1
        expected = Counter(ALL_TILES.tolist())
        if found != expected:
            raise ValueError(
                f"tiles: missing {self._names(expected - found)}, "
                f"too many {self._names(found - expected)}"
            )

    def _names(self, tiles: Counter[int]) -> list[str]:
        return [self._tiles[tile] for tile in sorted(tiles.elements())]

    def _tile(self, where: str, text: Any) -> int:
        if not isinstance(text, str) or text not in self._types:
            raise ValueError(f"{where}: no tile {shown(text)}")
        return self._types[text]

    def _space(self, text: Any) -> int:
        if text not in self._spaces:
            raise ValueError(
                f"board: no space {shown(text)}; there are '0'..'{len(self._circles) - 1}'"
            )
        return int(text)

    def _code(self, space: int, entry: Any) -> int:
        where = f"board: {space}"
        check_keys(where, entry, ("tile", "by"), ("value",))
        text = string(f"{where}: tile", entry["tile"])
        if text not in self._laid[space]:
            raise ValueError(f"{where}: no tile {shown(text)} of its colour")
        return self._laid[space].index(text)

    def _read_board(self, state: Record, data: Mapping[str, Any]) -> None:
        """Lays the tiles by space: the order makes no difference, neither to fits nor to values."""
        rules, last = self._rules, int(state.num_players) - 1
        rules.clear_board(state)
        for space in sorted(map(int, data)):
            entry, where = data[str(space)], f"board: {space}"
            code = self._code(space, entry)
            if not rules.fits(state, space, code):
                raise ValueError(f"{where}: {entry['tile']} doesn't fit there")
            owner = integer(f"{where}: by", entry["by"], 0, last)
            rules.place(state, space, code, owner)
        for space in self._occupied(state):
            check_keys(f"board: {space}", data[str(space)], list(self._placed(state, space)))
            if self._takes_value(space, state.code[space]):
                value = or_none(state.value[space])
                agrees(f"board: {space}: value", data[str(space)]["value"], value)

    def _read_known(self, state: Record, data: Mapping[str, Any]) -> None:
        """What all know of each seat."""
        players = int(state.num_players)
        for name in ("first_turn", "passed"):
            for seat, value in enumerate(sequence(name, data[name], players, players)):
                state[name][seat] = boolean(f"{name}[{seat}]", value)
        for seat, dug in enumerate(sequence("dug", data["dug"], players, players)):
            state.dug[seat] = integer(f"dug[{seat}]", dug, 0, TILES - HAND * players)
        for seat, lacks in enumerate(sequence("lacks", data["lacks"], players, players)):
            where = f"lacks[{seat}]"
            texts = sequence(where, lacks, 0, len(self._tiles))
            state.lacks[seat] = word({self._tile(where, text) for text in texts})
            agrees(where, list(lacks), self._texts(state.lacks[seat]))

    def _read_match(self, state: Record, data: Mapping[str, Any]) -> None:
        players = int(state.num_players)
        state.round_number = integer("round", data["round"], 1, int(state.max_rounds))
        state.starter = integer("starter", data["starter"], 0, players - 1)
        for seat, score in enumerate(sequence("scores", data["scores"], players, players)):
            state.scores[seat] = integer(f"scores[{seat}]", score, 0, MAX_SCORE)
        state.last_winner = NONE
        last = data["last_round"]
        if last is not None:
            check_keys("last_round", last, ("winner", "points", "how"))
            if last["how"] not in _HOW[1:]:
                raise ValueError(
                    f"last_round: how: {shown(last['how'])} is not one of {list(_HOW[1:])}"
                )
            state.last_how = _HOW.index(last["how"])
            state.last_points = integer("last_round: points", last["points"], 0, _MAX_POINTS)
            if last["winner"] is not None or state.last_how == OUT:
                state.last_winner = integer("last_round: winner", last["winner"], 0, players - 1)

    def _read_turn(self, state: Record, data: Mapping[str, Any]) -> None:
        """The seat to act can place a tile; without one the match is over, and the rules say so."""
        first = state.round_number == 1 and data["seat"] is not None
        if (data["last_round"] is None) != first:
            raise ValueError(
                f"last_round: {shown(data['last_round'])} in round {state.round_number}"
            )
        if data["seat"] is None:
            state.seat = NONE
            self._rules.end_match(state)
            if not state.winners:
                raise ValueError("seat: null, but the match is not over")
        else:
            seat = integer("seat", data["seat"], 0, int(state.num_players) - 1)
            state.seat = seat
            for other in range(int(state.num_players)):
                if not state.hand_size[other]:
                    raise ValueError(f"hands[{other}]: empty, but the round is not over")
            possible = np.uint64(self._rules.placeable(state, state.first_turn[seat]))
            if not state.held[seat] & possible:
                raise ValueError(f"seat: {seat} can't place any tile of hands[{seat}]")
            if state.dug[seat]:
                certain = self._texts(state.lacks[seat] & ~possible)
                agrees(f"lacks[{seat}]", list(data["lacks"][seat]), certain)
                state.lacks[seat] |= possible
        agrees("winners", data["winners"], self.to_dict(state)["winners"])
        wrong = self._rules.flaw(state, state.copy())
        if wrong:
            raise ValueError(wrong)


def _last_round(state: Record) -> dict[str, Any] | None:
    """How the round before ended, or the last one of a match that is over."""
    if not state.last_how:
        return None
    return {
        "winner": or_none(state.last_winner),
        "points": int(state.last_points),
        "how": _HOW[state.last_how],
    }
