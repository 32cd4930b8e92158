"""LINK-O in words: prompts, the log, spoken moves and scores. Numbers (R1..R23) are RULES.md's."""

from pathlib import Path

from linkzoo.core.guide import Guide, ScoreRow, count
from linkzoo.core.state import Record
from linkzoo.games.link_o import text
from linkzoo.games.link_o.components import LINKO_POINTS, NONE
from linkzoo.games.link_o.text import Json


# ruff: noqa: D102 - `Guide` says what the methods return
class LinkOGuide(Guide):
    """Hands and the bag are hidden (R2); what is placed, dug and passed is open."""

    rulebook = Path(__file__).with_name("RULES.md")

    def prompt(self, state: Record, seat: int | None = None) -> str:
        if state.seat == NONE or seat not in (None, state.seat):
            return super().prompt(state, seat)
        mover = int(state.seat)
        drawn = f"You drew {count(state.dug[mover], 'tile')} until one fitted. "
        said = drawn if state.dug[mover] else ""
        if not state.occupied:
            return f"{said}Open with a double or a LINK-O on a connector of its colour (R5)."
        if state.first_turn[mover]:
            where = "on an empty connector of its colour, or where it fits"
            return f"{said}Your first tile of the round is a double or a LINK-O, {where} (R6)."
        return (
            f"{said}Place a tile in the circle of its colour, beside a tile with an equal end "
            "(R9, R10, R11). Connectors take doubles and LINK-Os only (R12)."
        )

    def sentence(self, before: Record, action: int, after: Record, seat: int | None) -> str:
        old, new = self._view(before, seat), self._view(after, seat)
        said = [f"Player {before.seat} places {self.action_words(before, action)}."]
        space = self.notation.action_to_text(before, action).split(" ")[0][1:]
        value = text.connector_value(new["board"].get(space, {}))
        said += [f"It stands for {value} (R14)."] * (value not in ("", "?"))
        if new["seat"] is None or new["round"] > old["round"]:
            said.append(f"{text.last_round(new).removeprefix('Last round: ').capitalize()}.")
        turns = int(before.seat) + 1
        if new["seat"] is not None and new["round"] > old["round"]:
            said.append(f"Player {new['starter']} starts round {new['round']} (R3).")
            turns = new["starter"]
        for player in _on_turn(new, turns):
            drawn, passed = new["dug"][player], new["passed"][player]
            did = [f"draws {count(drawn, 'tile')}"] * bool(drawn) + ["passes"] * passed
            said += [f"Player {player} {' and '.join(did)} (R7, R16)."] * bool(did)
        return " ".join(said)

    def touched(self, state: Record, action: int, seat: int | None = None) -> tuple[str, ...]:
        old, new = self._view(state, None), self._view(self.after(state, action), None)
        laid = [space for space in new["board"] if new["board"][space] != old["board"].get(space)]
        gained = [
            player for player, score in enumerate(new["scores"]) if score > old["scores"][player]
        ]
        return (*(f"space {space}" for space in laid), *(f"seat {player}" for player in gained))

    def action_words(self, state: Record, action: int) -> str:
        space, colour, ends = self.notation.action_to_text(state, action).split(" ")
        left, _, right = ends.partition("-")
        turned = f", {left} to its left" * (ends != "LINK-O" and left != right)
        return f"{colour} {ends} on space {space[1:]}{turned}"

    def part_words(self, state: Record, part: str) -> str:
        if part.startswith("@"):
            return f"space {part[1:]}"
        left, _, right = part.partition("-")
        return f"{left} to the left, {right} to the right" if left.isdigit() else part

    def score_rows(self, state: Record, seat: int | None = None) -> list[ScoreRow]:
        view = self._view(state, seat)
        sizes = [len(hand) if isinstance(hand, list) else hand for hand in view["hands"]]
        held = [_points(hand) if isinstance(hand, list) else "" for hand in view["hands"]]
        target = view["options"]["target"]
        label = f"points of {target} (R20)" if target else "points of this round (R17)"
        return [
            ScoreRow("tiles in hand", tuple(map(str, sizes))),
            ScoreRow("points in hand, for the others (R17)", tuple(held)),
            ScoreRow(label, tuple(map(str, view["scores"]))),
        ]

    def outcome(self, state: Record) -> str:
        view = self._view(state, None)
        last = text.last_round(view).removeprefix("Last round: ")
        target = view["options"]["target"]
        if not target:
            reason = "it was a single round"
        elif max(view["scores"]) < target:
            reason = f"round {view['round']} was the last one (R21)"
        else:
            reason = f"the highest total, {target} or more after a round, wins (R20)"
        return f"{text.turn(view)}, {text.remark(view)}: {reason}. The last round: {last}."

    def _view(self, state: Record, seat: int | None) -> Json:
        assert self.notation.to_dict is not None
        return self.notation.to_dict(state, seat)


def _points(hand: list[str]) -> str:
    ends = [text.tile_parts(tile)[1] for tile in hand]
    return str(sum(sum(each) if each else LINKO_POINTS for each in ends))


def _on_turn(view: Json, first: int) -> list[int]:
    """Returns the seats in order from `first` to the one to act."""
    if view["seat"] is None:
        return []
    players = view["num_players"]
    return [(first + step) % players for step in range((view["seat"] - first) % players + 1)]
