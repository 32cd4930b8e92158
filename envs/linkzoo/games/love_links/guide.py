"""Love Links in words: prompts, the log, spoken moves, scores. Numbers (R1..) are RULES.md's."""

from pathlib import Path

from linkzoo.core.guide import Guide, ScoreRow, count
from linkzoo.core.state import Record
from linkzoo.games.love_links import components, describe
from linkzoo.games.love_links.components import METALS, NEW, NONE
from linkzoo.games.love_links.positions import to_dict
from linkzoo.games.love_links.rules import CLOSED_LENGTH, TARGET
from linkzoo.games.love_links.state import sides

# ruff: noqa: D102 - `Guide` says what the methods return
_ENDS = {"KEY": "key end", "LOCK": "lock end"}


class LoveLinksGuide(Guide):
    """Everything is open but for the order of the supplies (R4): all seats read the same."""

    rulebook = Path(__file__).with_name("RULES.md")

    def prompt(self, state: Record, seat: int | None = None) -> str:
        if state.seat == NONE or seat not in (None, state.seat):
            return super().prompt(state, seat)
        if state.must_start:
            return "Start a bracelet with any link of your hand: it belongs to your CLOSE (R12)."
        if min(self.legal(state)) >= NEW:
            return "No link of your hand fits any bracelet: start one with any link (R11)."
        points = 3 if state.matched else 1
        return (
            f"Move {state.move} of 2: join a link of your hand to an end of a bracelet, or close "
            f"one that then has {CLOSED_LENGTH} links or more (R8, R10). A match brings "
            f"{count(points, 'point')} (R15)."
        )

    def sentence(self, before: Record, action: int, after: Record, seat: int | None) -> str:
        side = int(describe.side_of(to_dict(before), int(before.seat)))
        gained = int(after.scores[side] - before.scores[side])
        mode, link, *slot = self.notation.action_to_text(before, action).split(" ")
        if mode == "CLOSE":
            said = f"closes bracelet {slot[0]} with {link} for {count(gained, 'point')} (R16): "
            said += ", ".join(f"{words} {points}" for words, points in _reckoned(before, action))
        elif mode == "NEW":
            said = f"starts a bracelet with {link}"
        else:
            said = f"joins {link} to the {_ENDS[mode]} of bracelet {slot[0]}"
            said += f", a match for {count(gained, 'point')} (R15)" * bool(gained)
        begins = after.seat != NONE and after.round_number > before.round_number
        begun = f" The {METALS[after.round_number]} round begins (R6)." * bool(begins)
        return f"Player {before.seat} {said}.{begun}"

    def touched(self, state: Record, action: int, seat: int | None = None) -> tuple[str, ...]:
        old, new = to_dict(state), to_dict(self.after(state, action))
        before = {found["slot"]: found["links"] for found in old["bracelets"]}
        found = [
            f"@{bracelet['slot']} {link}"
            for bracelet in new["bracelets"]
            for link, owner in bracelet["links"]
            if [link, owner] not in before.get(bracelet["slot"], [])
        ]
        gained = [side for side, score in enumerate(new["scores"]) if score > old["scores"][side]]
        return (*found, *(f"side {side}" for side in gained))

    def action_words(self, state: Record, action: int) -> str:
        mode, link, *slot = self.notation.action_to_text(state, action).split(" ")
        if mode == "NEW":
            return f"start a bracelet with {link}"
        if mode == "CLOSE":
            return f"close bracelet {slot[0]} with {link}"
        return f"join {link} to the {_ENDS[mode]} of bracelet {slot[0]}"

    def part_words(self, state: Record, part: str) -> str:
        slot, _, mode = part.partition(" ")
        if mode == "close":
            return f"close bracelet {slot}"
        if mode:
            return f"{mode} end of bracelet {slot}"
        return "a new bracelet" if part == "new" else f"link {part}"

    def score_rows(self, state: Record, seat: int | None = None) -> list[ScoreRow]:
        of_seats = sides(int(state.num_players))
        rows = {"captured stones, which break ties (R18)": state.captured, "points": state.scores}
        return [
            ScoreRow(label, tuple(str(values[side]) for side in of_seats))
            for label, values in rows.items()
        ]

    def outcome(self, state: Record) -> str:
        view = to_dict(state)
        most = max(view["scores"])
        if view["options"]["short"] and most >= TARGET:
            reason = f"{TARGET} points are reached (R21)"
        else:
            reason = "all links are placed, and the highest score wins (R20)"
        return f"{describe.turn(view)}, {describe.remark(view)}: {reason}."


def _reckoned(state: Record, action: int) -> list[tuple[str, int]]:
    """Returns what a CLOSE brings, by its parts (R16); those without points are left out."""
    place, rest = divmod(action, components.SLOTS * components.MODES)
    slot, link = rest // components.MODES, int(state.hands[state.seat, place])
    view, kinds = to_dict(state), components.LINKS[link]
    chain = describe.bracelets(view)[slot]
    own = describe.side_of(view, int(state.seat))
    numbers = [link, *(number for number, _ in chain)]
    captured = sum(by is not None and describe.side_of(view, by) != own for _, by in chain)
    matches = int(kinds.key == state.lock[slot]) + int(kinds.lock == state.key[slot])
    parts = [
        ("metal", int(components.METAL_POINTS[numbers].sum())),
        ("length", 2 * (len(numbers) - CLOSED_LENGTH)),
        ("capture", captured),
        ("domination", 0 if captured else 10),
        ("stones", int(components.STONE_POINTS[numbers].sum())),
        ("matches", 4 * matches),
        ("master", -4 * (kinds.lock == components.MASTER)),
    ]
    return [part for part in parts if part[1]]
