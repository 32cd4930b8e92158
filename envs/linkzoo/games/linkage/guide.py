"""Linkage in words: prompts, the log, spoken moves and the score. Numbers (R1..) are RULES.md's."""

from pathlib import Path

from linkzoo.core.guide import Guide, ScoreRow, count
from linkzoo.core.state import Record
from linkzoo.games.linkage import components, describe
from linkzoo.games.linkage.components import COLOURS, HOLE_ACTION
from linkzoo.games.linkage.notation import PIECES
from linkzoo.games.linkage.state import HOLE, NONE, ROLE

# ruff: noqa: D102 - `Guide` says what the methods return
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
        many = f"{state.threshold} groups or more"
        aim = many if describe.role(state, int(state.seat)) == "More" else f"fewer than {many[:-8]}"
        if state.counter != NONE:
            where = "two empty cells, neither beside the piece with the green counter (R4)"
        elif state.num_pieces:
            where = "any two empty cells side by side: the other player had to pass (R6)"
        else:
            where = "any two empty cells side by side (R4)"
        return f"Place a domino of any colour on {where}. You want {aim} at the end (R10)."

    def sentence(self, before: Record, action: int, after: Record, seat: int | None) -> str:
        mover = f"Player {before.seat}"
        if action >= components.TAKE_MORE:
            return f"{mover} takes the role of {describe.role(after, int(before.seat))}."
        if action >= HOLE_ACTION:
            return f"{mover} puts the hole on {self.action_words(before, action)[12:]}."
        groups = count(after.groups, "group")
        said = f"{mover} places a {self.action_words(before, action)}: {groups}."
        if after.seat == before.seat:
            said += f" Player {1 - before.seat} can't place and passes (R6)."
        return said

    def touched(self, state: Record, action: int, seat: int | None = None) -> tuple[str, ...]:
        after = self.after(state, action)
        found = [f"piece {index}" for index in range(state.num_pieces, after.num_pieces)]
        found += ["hole"] * int(after.hole != state.hole)
        return tuple(found + ["role More", "role Fewer"] * int(after.more != state.more))

    def action_words(self, state: Record, action: int) -> str:
        if action < HOLE_ACTION:
            letter, first, second = PIECES[action]
            return f"{NAMES[letter]} domino on {first} and {second}"
        return self.notation.action_to_text(state, action).replace("hole", "the hole on")

    def part_words(self, state: Record, part: str) -> str:
        return f"{NAMES[part]} domino" if part in NAMES else part

    def score_rows(self, state: Record, seat: int | None = None) -> list[ScoreRow]:
        if state.more == NONE:
            return []
        more = [player == state.more for player in range(2)]
        winning = [own == (state.groups >= state.threshold) for own in more]
        wanted = (f"{state.threshold} or more", f"{state.threshold - 1} or fewer")
        return [
            ScoreRow("groups to win (R10)", tuple(wanted[not own] for own in more)),
            ScoreRow("groups so far (R9)", (str(state.groups),) * 2),
            ScoreRow("if it ended now", tuple("wins" if won else "loses" for won in winning)),
        ]

    def outcome(self, state: Record) -> str:
        winner = describe.acting(state)
        sign = "at least" if describe.role(state, winner) == "More" else "fewer than"
        groups = count(state.groups, "group")
        return (
            f"{describe.turn(state)}: no domino fits any more (R8), and there are {groups}, {sign} "
            f"{state.threshold} (R10)."
        )
