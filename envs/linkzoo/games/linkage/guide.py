"""Linkage in words: prompts, the log, spoken moves and the score. R1 to R12 refer to RULES.md."""

from pathlib import Path

from linkzoo.core.guide import Guide, ScoreRow, count
from linkzoo.core.state import Record
from linkzoo.games.linkage import components, describe, reasons
from linkzoo.games.linkage.components import COLOURS, HOLE_ACTION
from linkzoo.games.linkage.notation import PIECES
from linkzoo.games.linkage.state import HOLE, NONE, ROLE

# ruff: noqa: D102 - `Guide` documents the methods
NAMES = dict(zip(COLOURS, ("white", "blue", "red", "yellow"), strict=True))


class LinkageGuide(Guide):
    """Nothing is hidden (R12): all seats read the same."""

    rulebook = Path(__file__).with_name("RULES.md")

    def prompt(self, state: Record, seat: int | None = None) -> str:
        if state.seat == NONE or seat not in (None, state.seat):
            return super().prompt(state, seat)
        if state.phase == HOLE:
            return "Put the hole on any cell; the other player then chooses a role (R11)."
        if state.phase == ROLE:
            return "Take More or Fewer; the other player gets the other role (R11)."
        aim = f"fewer than {state.threshold} groups"
        if describe.role(state, int(state.seat)) == "More":
            aim = f"{state.threshold} groups or more"
        if state.counter != NONE:
            cells = "two empty cells, neither beside the piece with the green counter (R4)"
        elif state.num_pieces:
            cells = "any two empty cells side by side: the other player had to pass (R6)"
        else:
            cells = "any two empty cells side by side (R4)"
        return f"Place a domino of any colour on {cells}. You want {aim} at the end (R10)."

    def sentence(self, before: Record, action: int, after: Record, seat: int | None) -> str:
        mover = f"Player {before.seat}"
        if action >= components.TAKE_MORE:
            return f"{mover} takes the role of {describe.role(after, int(before.seat))}."
        if action >= HOLE_ACTION:
            return f"{mover} puts {self.action_words(before, action)}."
        groups = count(after.groups, "group")
        words = f"{mover} places a {self.action_words(before, action)}: {groups}."
        if after.seat == before.seat:
            words += f" Player {1 - before.seat} can't place and passes (R6)."
        return words

    def consequences(
        self, before: Record, action: int, after: Record, seat: int | None
    ) -> list[str]:
        if action < HOLE_ACTION and after.seat == before.seat:
            return [f"player {1 - before.seat} passes"]
        return []

    def changed(self, before: Record, after: Record, seat: int | None = None) -> tuple[str, ...]:
        items = [f"piece {index}" for index in range(before.num_pieces, after.num_pieces)]
        if after.hole != before.hole:
            items.append("hole")
        if after.more != before.more:
            items += ["role More", "role Fewer"]
        return tuple(items)

    def action_words(self, state: Record, action: int) -> str:
        if action < HOLE_ACTION:
            letter, first, second = PIECES[action]
            return f"{NAMES[letter]} domino on {first} and {second}"
        return self.notation.action_to_text(state, action).replace("hole", "the hole on")

    def reasons(self, state: Record, played: int, better: int) -> list[str]:
        return reasons.reasons(state, played, better)

    def part_words(self, state: Record, part: str) -> str:
        if part in NAMES:
            return f"{NAMES[part]} domino"
        return part

    def score_rows(self, state: Record, seat: int | None = None) -> list[ScoreRow]:
        if state.more == NONE:
            return []
        goals = {
            "More": f"{state.threshold} or more",
            "Fewer": f"{state.threshold - 1} or fewer",
        }
        results = {"More": "loses", "Fewer": "wins"}
        if state.groups >= state.threshold:
            results = {"More": "wins", "Fewer": "loses"}
        roles = [describe.role(state, player) for player in range(2)]
        return [
            ScoreRow("groups to win (R10)", tuple(goals[role] for role in roles)),
            ScoreRow("groups so far (R9)", (str(state.groups), str(state.groups))),
            ScoreRow("if it ended now", tuple(results[role] for role in roles)),
        ]

    def outcome(self, state: Record) -> str:
        winner = describe.acting(state)
        sign = "at least" if describe.role(state, winner) == "More" else "fewer than"
        groups = count(state.groups, "group")
        return (
            f"{describe.turn(state)}: no domino fits any more (R8), and there are {groups}, {sign} "
            f"{state.threshold} (R10)."
        )
