"""Love Formula in words: prompts, the log, spoken moves, scores. Numbers (R1..) are RULES.md's."""

from collections import Counter
from pathlib import Path
from typing import Any

from linkzoo.core.guide import Guide, ScoreRow, count
from linkzoo.core.state import Record
from linkzoo.games.love_formula import decisions, describe, phases
from linkzoo.games.love_formula.cards import KINDS, Cards
from linkzoo.games.love_formula.components import NONE
from linkzoo.games.love_formula.describe import Json, Table
from linkzoo.games.love_formula.positions import PositionJson
from linkzoo.games.love_formula.reasons import REASONS

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
    "REACT": "{event} You may play a reaction, or pass (R19, R20).",
    "PAY": "You may discard cards of your hand to be rid of {card}, or pass (R8).",
}
_VERBS = {
    "DRAFT": "pick",
    "SELECT": "play",
    "REACT": "react with",
    "LOOK_KEEP": "keep",
    "RECOVER": "take",
    "HAND_DISCARD": "discard",
    "CHOICE": "discard",
}
_WORDS = {
    "PASS": "pass",
    "YES": "pay",
    "OPEN_DISCARD": "discard from the field",
    "FREE": "to the free slot",
}


class LoveFormulaGuide(Guide):
    """A seat reads of a move how its view (`to_dict`) changes, and the cards that are revealed.

    Args:
        cards: The table of cards.
        positions: The JSON of positions.
        parts: The arguments of `Guide`.
    """

    rulebook = Path(__file__).with_name("RULES.md")
    feature_reasons = REASONS

    def __init__(self, cards: Cards, positions: PositionJson, *parts: Any) -> None:
        super().__init__(*parts)
        self._view = positions.view
        self._table = Table(cards)

    def prompt(self, state: Record, seat: int | None = None) -> str:
        if state.seat == NONE:
            return self.outcome(state)
        view = self._view(state, seat)
        if seat not in (None, state.seat):
            return f"{describe.turn(view)}."
        effect = view["effect"] or {"who": None, "left": 0, "card": ""}
        card = view["acting"]["card"] if view["acting"] else effect["card"]
        prompt = _PROMPTS[view["decision"]].format(
            next=("next", "previous")[view["half"] - 1],
            step="After" if view["step"] == "post" else "Before",
            moving=describe.moving(view),
            placed=view["limbo"] or card,
            card=card,
            whose="your" if effect["who"] == view["seat"] else f"player {effect['who']}'s",
            left=effect["left"],
            event=_event_words(view["react"]) if view["react"] else "",
        )
        if card and self._table[card].text:
            prompt += f" {card}: {self._table[card].text}"
        return prompt

    def sentence(self, before: Record, action: int, after: Record, seat: int | None) -> str:
        old = self._view(before, seat)
        new = self._view(after, seat)
        sentences = []
        if seat in (None, before.seat) and before.decision in (decisions.DRAFT, decisions.SELECT):
            verb = "picks" if before.decision == decisions.DRAFT else "selects"
            card = self.notation.action_to_text(before, action).removeprefix("CARD ")
            sentences.append(f"Player {before.seat} {verb} {card}.")
        if before.stage == phases.SELECT and after.stage != phases.SELECT:
            sentences.append(self._revealed(before, action, new))
        sentences += _played(old, new)
        sentences += _field_changes(old, new)
        sentences += _completed(old, new, self._table)
        sentences += _hand_changes(old, new)
        if new["turn"] > old["turn"] and new["stage"] != "over":
            turns = describe.last_turn(self._table.course) + 1
            sentences.append(f"Turn {new['turn'] + 1} of {turns} begins.")
        if new["half"] > old["half"]:
            sentences.append("The second draft begins (R3).")
        if new["vp"] != old["vp"]:
            sentences.append(f"Points: {' : '.join(map(str, new['vp']))}.")
        return " ".join(sentences)

    def knowledge(self, state: Record, seat: int) -> list[str]:
        """Returns the packs that the seat passed on, and the cards that others took or hold."""
        view = self._view(state, seat)
        facts = []
        for player, cards in enumerate(view["passed"][seat]):
            if cards:
                names = describe.listed(describe.copies(cards))
                facts.append(f"From player {player}'s pack you passed on {names}.")
        if view["taken"][seat]:
            names = describe.listed(describe.copies(view["taken"][seat]))
            facts.append(f"Others took, and haven't shown: {names}.")
        for player, cards in enumerate(view["known"][seat]):
            if cards and player != seat:
                facts.append(f"Player {player} holds {describe.listed(describe.copies(cards))}.")
        return facts

    def changed(self, before: Record, after: Record, seat: int | None = None) -> tuple[str, ...]:
        old = self._view(before, seat)
        new = self._view(after, seat)
        contents = _contents(old)
        items = [name for name, card in _contents(new).items() if contents.get(name) != card]
        if new["order"] != old["order"]:
            items += [f"turn {player}" for player in new["order"]]
        if new["discard"] != old["discard"]:
            items.append("discard")
        return tuple(items)

    def action_words(self, state: Record, action: int) -> str:
        return self.part_words(state, self.notation.action_to_text(state, action))

    def part_words(self, state: Record, part: str) -> str:
        kind, _, name = part.partition(" ")
        if kind == "CARD":
            verb = _VERBS.get(decisions.NAMES[state.decision], "")
            return f"{verb} {name}".strip()
        if kind == "POS":
            owner, _, slot = name.partition("/")
            if not owner.isdigit():
                return describe.target(name)
            card = self._view(state, None)["fields"][int(owner)]["free"][slot]
            return f"{card} in the {describe.target(name)}"
        if kind in ("COUPLE", "OBSTACLE"):
            return name
        if kind == "PLAYER":
            return f"player {name}"
        return _WORDS[part]

    def score_rows(self, state: Record, seat: int | None = None) -> list[ScoreRow]:
        view = self._view(state, seat)
        parts = [self._points(view, player) for player in range(view["num_players"])]
        return [
            ScoreRow(label, tuple(str(points[label]) for points in parts)) for label in parts[0]
        ]

    def _points(self, view: Json, player: int) -> dict[str, int]:
        """Returns the parts of a player's points, and their sum (R26)."""
        field = view["fields"][player]
        total = view["vp"][player]
        preparations = sum(card is not None for card in field["free"].values())
        incomplete = 0
        obstacles = 0
        for couple in field["couples"]:
            preparations += len(couple["attached"])
            incomplete += not describe.complete(self._table, couple)
            for entry in describe.obstacles_at(view, couple):
                obstacles += int(self._table[entry["card"]].static.get("vp", 0))
        return {
            "preparations, 1 each": preparations,
            "incomplete couples, 1 each": incomplete,
            "complete couples, 4 or 9": total - preparations - incomplete - obstacles,
            "obstacles": obstacles,
            "points (R26)": total,
        }

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

    def _revealed(self, before: Record, action: int, new: Json) -> str:
        """Returns the cards of all seats, which the last selection reveals (R8, T2)."""
        names = list(self._table)
        cards = {player: int(card) for player, card in enumerate(before.selected) if card != NONE}
        cards[int(before.seat)] = action
        plays = []
        for player in new["order"] or sorted(cards):
            words = f"player {player} plays {names[cards[player]]}"
            if new["order"]:
                words += f" (priority {new['priorities'][player]})"
            plays.append(words)
        sentence = ", ".join(plays)
        return f"{sentence[:1].upper()}{sentence[1:]}."


def _event_words(react: Json) -> str:
    """Returns the event that a reaction would answer."""
    if react["kind"] == "prep_discarded":
        return f"{react['card']} of player {react['owner']} was discarded."
    aim = f" at {react['couple']}" if react["couple"] else ""
    return f"Player {react['source']} plays {react['card']}{aim}."


def _played(old: Json, new: Json) -> list[str]:
    """Returns the targets chosen, and the reactions played."""
    sentences = []
    acting = new["acting"]
    if acting and acting["targets"]:
        known_targets = old["acting"]["targets"] if old["acting"] else []
        if known_targets != acting["targets"]:
            aims = " and ".join(map(describe.target, acting["targets"]))
            sentences.append(f"Player {acting['by']} aims {acting['card']} at {aims}.")
    if new["react"]:
        known = len(old["react"]["pending"]) if old["react"] else 0
        played = new["react"]["pending"][known:]
        sentences += [
            f"Player {entry['by']} reacts with {entry['card']} (R20)." for entry in played
        ]
    return sentences


def _contents(view: Json) -> dict[str, str]:
    """Returns the contents of the fields by name of their place.

    A couple has its player, a position its preparation, an obstacle its couple.
    """
    contents = {}
    for player, field in enumerate(view["fields"]):
        for couple in field["couples"]:
            contents[f"COUPLE {couple['card']}"] = str(player)
            for name in couple["attached"]:
                contents[f"POS {couple['card']}/{name}"] = name
        for slot, card in field["free"].items():
            if card:
                contents[f"POS {player}/{slot}"] = card
    for entry in view["obstacles"]:
        contents[f"OBSTACLE {describe.copy_of(view, entry)}"] = entry["couple"]
    return contents


def _field_changes(old: Json, new: Json) -> list[str]:
    """Returns the cards that came to a field or left it."""
    before = _contents(old)
    after = _contents(new)
    return [
        _change(name, before.get(name), after.get(name))
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name)
    ]


def _change(name: str, before: str | None, after: str | None) -> str:
    """Returns a sentence on a place of `_contents` with another content."""
    kind, _, place = name.partition(" ")
    if kind == "COUPLE":
        verb = f"joins the field of player {after}" if after else "leaves the field"
        return f"{place} {verb}."
    if kind == "OBSTACLE":
        card, _, _ = place.partition("#")
        verb = "is attached to" if after else "leaves"
        return f"{card} {verb} {after or before}."
    verb = "goes to" if after else "leaves"
    owner, _, slot = place.partition("/")
    if owner.isdigit():
        owner = f"the {slot} slot of player {owner}"
    return f"{after or before} {verb} {owner}."


def _completed(old: Json, new: Json, table: Table) -> list[str]:
    """Returns the couples that have become complete."""
    names = _complete_couples(new, table) - _complete_couples(old, table)
    return [f"{name} is complete (R26)." for name in sorted(names)]


def _complete_couples(view: Json, table: Table) -> set[str]:
    couples = [couple for field in view["fields"] for couple in field["couples"]]
    return {couple["card"] for couple in couples if describe.complete(table, couple)}


def _hand_changes(old: Json, new: Json) -> list[str]:
    """Returns the cards discarded, and the players with more cards in hand."""
    if "draft" in (old["stage"], new["stage"]) or new["stage"] == "over":
        return []
    sentences = []
    discarded: Counter[str] = Counter(new["discard"]) - Counter(old["discard"])
    if discarded:
        sentences.append(f"Discarded: {describe.listed(discarded)}.")
    for player in range(new["num_players"]):
        drawn = describe.size(new["hands"][player]) - describe.size(old["hands"][player])
        if drawn > 0:
            sentences.append(f"Player {player} has {count(drawn, 'card')} more in hand.")
    return sentences
