"""Love Formula in words: prompts, the log, spoken moves, scores. Numbers (R1..) are RULES.md's."""

from collections import Counter
from pathlib import Path
from typing import Any

from linkzoo.core.guide import Guide, ScoreRow, count
from linkzoo.core.state import Record
from linkzoo.games.love_formula import decisions, describe, phases
from linkzoo.games.love_formula.cards import KINDS, Cards
from linkzoo.games.love_formula.components import NONE, TURNS
from linkzoo.games.love_formula.describe import Json

# ruff: noqa: D102 - `Guide` says what the methods return
_PROMPTS = {
    "DRAFT": "Pick a card for your pile; the rest of the pack moves on to the {next} seat (R5).",
    "SELECT": "Select the card that you play in this turn. All cards are revealed together, and "
    "the highest priority comes first (R8).",
    "WINDOW": "{step} your card: you may move a preparation of your field, discard from it, or "
    "pass (R11).",
    "MOVE_DEST": "Choose where {moving} goes: a couple that lacks it, or its free slot (R10, R11).",
    "DISCARD_MENU": "Choose a card of your field to discard, or pass (R11).",
    "PLACE": "Choose where {placed} goes: a couple that lacks it, or its free slot (R10, R12).",
    "TARGET_COUPLE": "Choose the couple that gets {card} (R13).",
    "TARGET_PREP": "Choose the preparation that {card} is for (R14).",
    "SWAP_OWN": "Choose the preparation of your field that you give for it (R14).",
    "TARGET_OBSTACLE": "Choose the obstacle that {card} removes (R14).",
    "TARGET_PLAYER": "Choose the player that {card} is for (R14).",
    "HAND_DISCARD": "Choose a card of {whose} hand to discard, {left} to go (R14).",
    "LOOK_KEEP": "Choose a card to keep, {left} to go (R14).",
    "RECOVER": "Choose a card of the discard pile to take (R14).",
    "CHOICE": "Choose what to lose: a card of your hand, or a preparation of the couple (R8).",
    "REACT": "{what} You may play a reaction, or pass (R19, R20).",
    "PAY": "You may discard cards of your hand to be rid of {card}, or pass (R8).",
}
_VERBS = {"DRAFT": "pick", "SELECT": "play", "REACT": "react with", "LOOK_KEEP": "keep"}
_VERBS |= {"RECOVER": "take", "HAND_DISCARD": "discard", "CHOICE": "discard"}
_WORDS = {"PASS": "pass", "YES": "pay", "OPEN_DISCARD": "discard from the field"}
_WORDS |= {"FREE": "to the free slot"}


class LoveFormulaGuide(Guide):
    """A seat reads of a move how its view (`to_dict`) changes, and the cards that are revealed.

    Args:
        cards: The table of cards.
        parts: The arguments of `Guide`.
    """

    rulebook = Path(__file__).with_name("RULES.md")

    def __init__(self, cards: Cards, *parts: Any) -> None:
        super().__init__(*parts)
        self._table = {card.name: card for card in cards.cards}

    def prompt(self, state: Record, seat: int | None = None) -> str:
        if state.seat == NONE:
            return self.outcome(state)
        view = self._view(state, seat)
        if seat not in (None, state.seat):
            return f"{describe.turn(view)}."
        effect, acting = view["effect"] or {"who": None, "left": 0}, view["acting"] or {}
        card = acting.get("card") or effect.get("card") or ""
        said = _PROMPTS[view["decision"]].format(
            next=("next", "previous")[view["half"] - 1],
            step="After" if view["step"] == "post" else "Before",
            moving=describe.moving(view),
            placed=view["limbo"] or card,
            card=card,
            whose="your" if effect["who"] == view["seat"] else f"player {effect['who']}'s",
            left=effect["left"],
            what=_event_words(view["react"]) if view["react"] else "",
        )
        told = f" {card}: {self._table[card].text}" if card and self._table[card].text else ""
        return said + told

    def sentence(self, before: Record, action: int, after: Record, seat: int | None) -> str:
        old, new = self._view(before, seat), self._view(after, seat)
        said = []
        if seat in (None, before.seat) and before.decision in (decisions.DRAFT, decisions.SELECT):
            verb = "picks" if before.decision == decisions.DRAFT else "selects"
            card = self.notation.action_to_text(before, action).removeprefix("CARD ")
            said.append(f"Player {before.seat} {verb} {card}.")
        if before.stage == phases.SELECT and after.stage != phases.SELECT:
            said.append(self._revealed(before, action, new))
        said += [*_played(old, new), *_fields(old, new, self._table), *_piles(old, new)]
        if new["turn"] > old["turn"] and new["stage"] != "over":
            said.append(f"Turn {new['turn'] + 1} of {2 * TURNS} begins.")
        if new["half"] > old["half"]:
            said.append("The second draft begins (R3).")
        if new["vp"] != old["vp"]:
            said.append(f"Points: {' : '.join(map(str, new['vp']))}.")
        return " ".join(said)

    def touched(self, state: Record, action: int, seat: int | None = None) -> tuple[str, ...]:
        old, new = self._view(state, seat), self._view(self.after(state, action), seat)
        before = _places(old)
        found = [name for name, card in _places(new).items() if before.get(name) != card]
        if new["order"] != old["order"]:
            found += [f"turn {player}" for player in new["order"]]
        return (*found, *["discard"] * (new["discard"] != old["discard"]))

    def action_words(self, state: Record, action: int) -> str:
        return self.part_words(state, self.notation.action_to_text(state, action))

    def part_words(self, state: Record, part: str) -> str:
        kind, _, what = part.partition(" ")
        if kind == "CARD":
            verb = _VERBS.get(decisions.NAMES[state.decision], "")
            return f"{verb} {what}".strip()
        if kind == "POS":
            owner, _, slot = what.partition("/")
            if not owner.isdigit():
                return describe.target(what)
            card = self._view(state, None)["fields"][int(owner)]["free"][slot]
            return f"{card} in the {describe.target(what)}"
        if kind in ("COUPLE", "OBSTACLE"):
            return what
        return f"player {what}" if kind == "PLAYER" else _WORDS[part]

    def score_rows(self, state: Record, seat: int | None = None) -> list[ScoreRow]:
        view = self._view(state, seat)
        rows: dict[str, list[int]] = {}
        for player, field in enumerate(view["fields"]):
            lists = [couple["attached"] for couple in field["couples"]]
            free = sum(card is not None for card in field["free"].values())
            lacking = [not describe.complete(self._table, couple) for couple in field["couples"]]
            costs = sum(
                int(self._table[entry["card"]].static.get("vp", 0))
                for couple in field["couples"]
                for entry in describe.obstacles_at(view, couple)
            )
            parts = {
                "preparations, 1 each": sum(map(len, lists)) + free,
                "incomplete couples, 1 each": sum(lacking),
                "complete couples, 4 or 9": 0,
                "obstacles": costs,
                "points (R26)": view["vp"][player],
            }
            parts["complete couples, 4 or 9"] = 2 * view["vp"][player] - sum(parts.values())
            for label, value in parts.items():
                rows.setdefault(label, []).append(value)
        return [ScoreRow(label, tuple(map(str, values))) for label, values in rows.items()]

    def components(self) -> str:
        return "\n".join(
            f"{card.name}: {card.subtype or KINDS[card.kind]}, priority {card.priority}, "
            f"{count(card.copies, 'card')}. {card.text}".rstrip()
            for card in self._table.values()
        )

    def outcome(self, state: Record) -> str:
        view = self._view(state, None)
        tied = view["vp"].count(max(view["vp"])) > len(view["winners"])
        reason = "the most points win (R27)"
        if tied:
            reason = "points are equal, so preparations, couples, obstacles and cards decide (R27)"
        return f"{describe.turn(view)}, {describe.remark(view)}: {reason}."

    def _view(self, state: Record, seat: int | None) -> Json:
        assert self.notation.to_dict is not None
        return self.notation.to_dict(state, seat)

    def _revealed(self, before: Record, action: int, new: Json) -> str:
        """Returns the cards of all seats, which the last selection reveals (R8, T2)."""
        names = list(self._table)
        cards = {player: int(card) for player, card in enumerate(before.selected) if card != NONE}
        cards[int(before.seat)] = action
        order = new["order"] or sorted(cards)
        told = [
            f"player {player} plays {names[cards[player]]}"
            + (f" (priority {new['priorities'][player]})" if new["order"] else "")
            for player in order
        ]
        said = ", ".join(told)
        return f"{said[:1].upper()}{said[1:]}."


def _event_words(react: Json) -> str:
    """Returns what a reaction would answer."""
    if react["kind"] == "prep_discarded":
        return f"{react['card']} of player {react['owner']} was discarded."
    aim = f" at {react['couple']}" if react["couple"] else ""
    return f"Player {react['source']} plays {react['card']}{aim}."


def _played(old: Json, new: Json) -> list[str]:
    """Returns the targets chosen, and the reactions played."""
    said = []
    acting, react = new["acting"], new["react"]
    if acting and acting["targets"] and (old["acting"] or {}).get("targets") != acting["targets"]:
        aims = " and ".join(map(describe.target, acting["targets"]))
        said.append(f"Player {acting['by']} aims {acting['card']} at {aims}.")
    known = len(old["react"]["pending"]) if old["react"] else 0
    later = react["pending"][known:] if react else []
    return said + [f"Player {entry['by']} reacts with {entry['card']} (R20)." for entry in later]


def _places(view: Json) -> dict[str, str]:
    """Returns what lies in the fields, by the name of its place."""
    found = {}
    for player, field in enumerate(view["fields"]):
        for couple in field["couples"]:
            found[f"COUPLE {couple['card']}"] = str(player)
            found |= {f"POS {couple['card']}/{name}": name for name in couple["attached"]}
        found |= {f"POS {player}/{slot}": card for slot, card in field["free"].items() if card}
    for entry in view["obstacles"]:
        found[f"OBSTACLE {describe.copy_of(view, entry)}"] = entry["couple"]
    return found


def _fields(old: Json, new: Json, table: describe.Table) -> list[str]:
    """Returns what came to a field, left it, or was completed there."""
    before, after = _places(old), _places(new)
    said = []
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) == after.get(name):
            continue
        kind, _, place = name.partition(" ")
        there = after.get(name)
        if kind == "COUPLE":
            did = f"joins the field of player {there}" if there else "leaves the field"
            said.append(f"{place} {did}.")
        elif kind == "OBSTACLE":
            card, at = place.partition("#")[0], there or before[name]
            said.append(f"{card} {'is attached to' if there else 'leaves'} {at}.")
        else:
            owner, _, slot = place.partition("/")
            where = f"the {slot} slot of player {owner}" if owner.isdigit() else owner
            said.append(f"{there or before[name]} {'goes to' if there else 'leaves'} {where}.")
    complete = [
        {c["card"] for f in view["fields"] for c in f["couples"] if describe.complete(table, c)}
        for view in (old, new)
    ]
    return said + [f"{couple} is complete (R26)." for couple in sorted(complete[1] - complete[0])]


def _piles(old: Json, new: Json) -> list[str]:
    """Returns what was discarded, and who drew or lost cards of the hand."""
    if "draft" in (old["stage"], new["stage"]) or new["stage"] == "over":
        return []
    said = []
    gone: Counter[str] = Counter(new["discard"]) - Counter(old["discard"])
    if gone:
        listed = ", ".join(f"{name} x{n}" if n > 1 else name for name, n in gone.items())
        said.append(f"Discarded: {listed}.")
    for player in range(new["num_players"]):
        drawn = describe.size(new["hands"][player]) - describe.size(old["hands"][player])
        if drawn > 0:
            said.append(f"Player {player} has {count(drawn, 'card')} more in hand.")
    return said
