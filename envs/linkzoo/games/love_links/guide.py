"""Love Links in words: prompts, the log, spoken moves, scores. R1 to R23 refer to RULES.md."""

from collections import Counter
from pathlib import Path
from typing import Any

from linkzoo.core.guide import Guide, ScoreRow, count
from linkzoo.core.state import Record
from linkzoo.games.love_links import components, describe
from linkzoo.games.love_links.components import METALS, NEW, NONE
from linkzoo.games.love_links.describe import Json
from linkzoo.games.love_links.links import LinkSet
from linkzoo.games.love_links.reasons import REASONS
from linkzoo.games.love_links.rules import TARGET
from linkzoo.games.love_links.state import sides
from linkzoo.games.love_links.tables import LINKS

# ruff: noqa: D102 - `Guide` documents the methods
_ENDS = {"KEY": "key end", "LOCK": "lock end"}


class LoveLinksGuide(Guide):
    """Everything is open but for the order of the supplies (R4): all seats read the same.

    Args:
        link_set: The links of the game.
        parts: The arguments of `Guide`.
    """

    rulebook = Path(__file__).with_name("RULES.md")
    feature_reasons = REASONS

    def __init__(self, link_set: LinkSet, *parts: Any) -> None:
        super().__init__(*parts)
        self._closed_length = link_set.closed_length

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
            f"one that then has {self._closed_length} links or more (R8, R10). A match brings "
            f"{count(points, 'point')} (R15)."
        )

    def sentence(self, before: Record, action: int, after: Record, seat: int | None) -> str:
        side = int(describe.side_of(self._view(before), int(before.seat)))
        gained = int(after.scores[side] - before.scores[side])
        mode, link, *slot = self.notation.action_to_text(before, action).split(" ")
        if mode == "CLOSE":
            words = f"closes bracelet {slot[0]} with {link} for {count(gained, 'point')} (R16): "
            words += ", ".join(
                f"{part} {points}" for part, points in self._breakdown(before, action)
            )
        elif mode == "NEW":
            words = f"starts a bracelet with {link}"
        else:
            words = f"joins {link} to the {_ENDS[mode]} of bracelet {slot[0]}"
            if gained:
                words += f", a match for {count(gained, 'point')} (R15)"
        sentence = f"Player {before.seat} {words}."
        if after.seat != NONE and after.round_number > before.round_number:
            sentence += f" The {METALS[after.round_number]} round begins (R6)."
        return sentence

    def consequences(
        self, before: Record, action: int, after: Record, seat: int | None
    ) -> list[str]:
        parts = []
        side = int(describe.side_of(self._view(before), int(before.seat)))
        gained = int(after.scores[side] - before.scores[side])
        if gained:
            parts.append(count(gained, "point"))
        link = self.notation.action_to_text(before, action).split(" ")[1]
        hands = [Counter(hand) for hand in self._view(before)["hands"]]
        hands[int(before.seat)][link] -= 1
        for player, hand in enumerate(self._view(after)["hands"]):
            drawn = [*(Counter(hand) - hands[player]).elements()]
            if drawn:
                parts.append(f"player {player} draws {', '.join(drawn)}")
        return parts

    def changed(self, before: Record, after: Record, seat: int | None = None) -> tuple[str, ...]:
        old = self._view(before)
        new = self._view(after)
        old_links = {bracelet["slot"]: bracelet["links"] for bracelet in old["bracelets"]}
        items = [
            f"@{bracelet['slot']} {link}"
            for bracelet in new["bracelets"]
            for link, owner in bracelet["links"]
            if [link, owner] not in old_links.get(bracelet["slot"], [])
        ]
        for side, score in enumerate(new["scores"]):
            if score > old["scores"][side]:
                items.append(f"side {side}")
        return tuple(items)

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
        if part == "new":
            return "a new bracelet"
        return f"link {part}"

    def score_rows(self, state: Record, seat: int | None = None) -> list[ScoreRow]:
        seat_sides = sides(int(state.num_players))
        captured = tuple(str(state.captured[side]) for side in seat_sides)
        points = tuple(str(state.scores[side]) for side in seat_sides)
        return [
            ScoreRow("captured stones, which break ties (R18)", captured),
            ScoreRow("points", points),
        ]

    def outcome(self, state: Record) -> str:
        view = self._view(state)
        most = max(view["scores"])
        if view["options"]["short"] and most >= TARGET:
            reason = f"{TARGET} points are reached (R21)"
        else:
            reason = "all links are placed, and the highest score wins (R20)"
        return f"{describe.turn(view)}, {describe.remark(view)}: {reason}."

    def _breakdown(self, state: Record, action: int) -> list[tuple[str, int]]:
        """Returns the parts of a CLOSE's points (R16) that aren't 0."""
        place, rest = divmod(action, components.SLOTS * components.MODES)
        slot = rest // components.MODES
        link = int(state.hands[state.seat, place])
        lock = LINKS.lock[link]
        view = self._view(state)
        chain = describe.bracelets(view)[slot]
        numbers = [link, *(number for number, _ in chain)]
        captured = describe.captured(view, chain)
        parts = {
            "metal": int(LINKS.metal_points[numbers].sum()),
            "length": 2 * (len(numbers) - self._closed_length),
            "capture": captured,
            "domination": 0 if captured else 10,
            "stones": int(LINKS.stone_points[numbers].sum()),
            "matches": 4 * int(LINKS.key[link] == state.lock[slot])
            + 4 * int(lock == state.key[slot]),
            "master": -4 * int(lock == components.MASTER),
        }
        return [(part, points) for part, points in parts.items() if points]

    def _view(self, state: Record) -> Json:
        assert self.notation.to_dict is not None
        return self.notation.to_dict(state, None)
