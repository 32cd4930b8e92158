"""LINK-O in words: prompts, the log, spoken moves and scores. R1 to R23 refer to RULES.md."""

from collections import Counter
from pathlib import Path
from typing import Any

from linkzoo.core.guide import Guide, ScoreRow, count
from linkzoo.core.state import Record
from linkzoo.games.link_o import text
from linkzoo.games.link_o.components import LINKO_POINTS, NONE
from linkzoo.games.link_o.positions import PositionJson
from linkzoo.games.link_o.reasons import REASONS
from linkzoo.games.link_o.text import Json


# ruff: noqa: D102 - `Guide` documents the methods
class LinkOGuide(Guide):
    """Hands and the bag are hidden (R2); placing, digging and passing is public.

    Args:
        positions: The JSON of positions.
        parts: The arguments of `Guide`.
    """

    rulebook = Path(__file__).with_name("RULES.md")
    feature_reasons = REASONS

    def __init__(self, positions: PositionJson, *parts: Any) -> None:
        super().__init__(*parts)
        self._view = positions.view

    def prompt(self, state: Record, seat: int | None = None) -> str:
        if state.seat == NONE or seat not in (None, state.seat):
            return super().prompt(state, seat)
        mover = int(state.seat)
        words = ""
        if state.dug[mover]:
            words = f"You drew {count(state.dug[mover], 'tile')} until one fitted. "
        if not state.occupied:
            return f"{words}Open with a double or a LINK-O on a connector of its colour (R5)."
        if state.first_turn[mover]:
            return (
                f"{words}Your first tile of the round is a double or a LINK-O, on an empty "
                "connector of its colour, or where it fits (R6)."
            )
        return (
            f"{words}Place a tile in the circle of its colour, beside a tile with an equal end "
            "(R9, R10, R11). Connectors take doubles and LINK-Os only (R12)."
        )

    def sentence(self, before: Record, action: int, after: Record, seat: int | None) -> str:
        old = self._view(before, seat)
        new = self._view(after, seat)
        sentences = [f"Player {before.seat} places {self.action_words(before, action)}."]
        space = self.notation.action_to_text(before, action).split(" ")[0][1:]
        value = text.connector_value(new["board"].get(space, {}))
        if value not in ("", "?"):
            sentences.append(f"It stands for {value} (R14).")
        match_over = new["seat"] is None
        new_round = new["round"] > old["round"]
        if match_over or new_round:
            sentences.append(f"{_round_result(new).capitalize()}.")
        following = int(before.seat) + 1
        if new_round and not match_over:
            sentences.append(f"Player {new['starter']} starts round {new['round']} (R3).")
            following = new["starter"]
        for player in _turns_since(new, following):
            events = []
            if new["dug"][player]:
                events.append(f"draws {count(new['dug'][player], 'tile')}")
            if new["passed"][player]:
                events.append("passes")
            if events:
                sentences.append(f"Player {player} {' and '.join(events)} (R7, R16).")
        return " ".join(sentences)

    def consequences(
        self, before: Record, action: int, after: Record, seat: int | None
    ) -> list[str]:
        old = self._view(before, seat)
        new = self._view(after, seat)
        parts = []
        following = int(before.seat) + 1
        new_round = new["round"] > old["round"]
        if new_round or new["seat"] is None:
            parts.append(_round_result(new))
        if new_round and new["seat"] is not None:
            parts.append(f"round {new['round']} begins")
            following = new["starter"]
        for player in _turns_since(new, following):
            hand = new["hands"][player]
            if new["dug"][player]:
                drawn = count(new["dug"][player], "tile")
                if player == seat and not new_round:
                    tiles = Counter(hand) - Counter(old["hands"][player])
                    drawn = ", ".join(text.by_colour([*tiles.elements()]))
                parts.append(f"player {player} draws {drawn}")
            if new["passed"][player]:
                parts.append(f"player {player} passes")
        return parts

    def knowledge(self, state: Record, seat: int) -> list[str]:
        """Returns the tiles that other hands lack, since they drew although one would have fit."""
        lacks = self._view(state, seat)["lacks"]
        return [
            f"Player {player} lacks {', '.join(text.by_colour(tiles))}."
            for player, tiles in enumerate(lacks)
            if tiles and player != seat
        ]

    def changed(self, before: Record, after: Record, seat: int | None = None) -> tuple[str, ...]:
        old = self._view(before, None)
        new = self._view(after, None)
        items = [
            f"space {space}"
            for space, entry in new["board"].items()
            if entry != old["board"].get(space)
        ]
        for player, score in enumerate(new["scores"]):
            if score > old["scores"][player]:
                items.append(f"seat {player}")
        return tuple(items)

    def action_words(self, state: Record, action: int) -> str:
        space, colour, ends = self.notation.action_to_text(state, action).split(" ")
        words = f"{colour} {ends} on space {space[1:]}"
        left, _, right = ends.partition("-")
        if ends != "LINK-O" and left != right:
            words += f", {left} to its left"
        return words

    def part_words(self, state: Record, part: str) -> str:
        if part.startswith("@"):
            return f"space {part[1:]}"
        left, _, right = part.partition("-")
        if left.isdigit():
            return f"{left} to the left, {right} to the right"
        return part

    def score_rows(self, state: Record, seat: int | None = None) -> list[ScoreRow]:
        view = self._view(state, seat)
        sizes = [str(text.number_of(hand)) for hand in view["hands"]]
        points = [_points(hand) for hand in view["hands"]]
        label = "points of this round (R17)"
        if view["options"]["target"]:
            label = f"points of {view['options']['target']} (R20)"
        return [
            ScoreRow("tiles in hand", tuple(sizes)),
            ScoreRow("points in hand, for the others (R17)", tuple(points)),
            ScoreRow(label, tuple(map(str, view["scores"]))),
        ]

    def outcome(self, state: Record) -> str:
        view = self._view(state, None)
        target = view["options"]["target"]
        if not target:
            reason = "it was a single round"
        elif max(view["scores"]) < target:
            reason = f"round {view['round']} was the last one (R21)"
        else:
            reason = f"the highest total, {target} or more after a round, wins (R20)"
        last = _round_result(view)
        return f"{text.turn(view)}, {text.remark(view)}: {reason}. The last round: {last}."


def _round_result(view: Json) -> str:
    """Returns the end of the last round and its points."""
    return text.last_round(view).removeprefix("Last round: ")


def _points(hand: list[str] | int) -> str:
    """Returns the points of a visible hand, "" of a hidden one."""
    if isinstance(hand, int):
        return ""
    points = 0
    for tile in hand:
        _, ends = text.tile_parts(tile)
        points += sum(ends) if ends else LINKO_POINTS
    return str(points)


def _turns_since(view: Json, first: int) -> list[int]:
    """Returns the seats in order from `first` to the seat to act."""
    if view["seat"] is None:
        return []
    players = view["num_players"]
    return [(first + step) % players for step in range((view["seat"] - first) % players + 1)]
