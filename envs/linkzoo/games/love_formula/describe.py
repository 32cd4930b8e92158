"""Descriptions of a Love Formula position, read from its JSON (`to_dict`); for text and SVG."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from linkzoo.core.guide import winners_text
from linkzoo.games.love_formula.cards import KINDS, REACTION, Card, Cards, Course

Json = dict[str, Any]

_PROMPTS = {
    "DRAFT": "picks a card of the pack",
    "SELECT": "selects a card",
    "WINDOW": "may move or discard in the field",
    "MOVE_DEST": "moves {moving}",
    "DISCARD_MENU": "chooses what to discard",
    "PLACE": "places {placed}",
    "TARGET_COUPLE": "chooses a couple",
    "TARGET_PREP": "chooses a preparation",
    "SWAP_OWN": "chooses what to give for it",
    "TARGET_OBSTACLE": "chooses an obstacle",
    "TARGET_PLAYER": "chooses a player",
    "HAND_DISCARD": "discards from {whose} hand, {left} to go",
    "LOOK_KEEP": "keeps a card, {left} to go",
    "RECOVER": "takes a card of the discard pile",
    "CHOICE": "chooses what to lose",
    "REACT": "may react",
    "PAY": "may pay with cards of the hand",
}


class Table(dict[str, Card]):
    """The cards of a table by name.

    Attributes:
        course: The course of the game.
    """

    def __init__(self, cards: Cards) -> None:
        super().__init__({card.name: card for card in cards.cards})
        self.course = cards.course


_NO_EFFECT: Json = {"who": None, "left": 0}


def size(cards: list[str] | int) -> int:
    """Returns the number of cards, visible or only counted."""
    return cards if isinstance(cards, int) else len(cards)


def copies(cards: list[str]) -> dict[str, int]:
    """Returns the number of copies of each card, in order of first occurrence."""
    return {name: cards.count(name) for name in dict.fromkeys(cards)}


def listed(numbers: Mapping[str, int]) -> str:
    """Returns cards by name, `x2` for copies."""
    return ", ".join(
        f"{name} x{number}" if number > 1 else name for name, number in numbers.items()
    )


def held(view: Json, player: int) -> dict[str, list[str] | int]:
    """Returns the hand and, in a draft, the pack and the pile, as cards or counts."""
    names = ["hand"]
    if view["stage"] == "draft":
        names += ["pack", "pile"]
    return {name: view[f"{name}s"][player] for name in names}


def in_use(view: Json) -> str:
    """Returns which cards players choose from: the hands, in a draft the packs."""
    return "pack" if view["stage"] == "draft" else "hand"


def last_turn(course: Course) -> int:
    """Returns the number of the last turn, from 0."""
    return course.halves * course.turns - 1


def stage(view: Json, course: Course) -> str:
    """Returns the half, the turn and its stage."""
    half = ("first", "second")[view["half"] - 1]
    if view["stage"] == "draft":
        return f"{half} draft"
    if view["stage"] == "over":
        return "end of the game"
    turn = f"turn {view['turn'] + 1} of {last_turn(course) + 1}, {view['stage']}"
    if course.halves == 1:
        return turn
    return f"{half} half, {turn}"


def turn(view: Json) -> str:
    """Returns the turn or the winner as text."""
    if view["stage"] == "over":
        return winners_text(view["winners"], view["num_players"])
    if view["seat"] is None:
        return "Another player to act"
    return f"Player {view['seat']} to act"


def remark(view: Json) -> str:
    """Returns the seat's decision or the final score; "" if the view doesn't show it."""
    if view["stage"] == "over":
        return " : ".join(map(str, view["vp"]))
    if view["seat"] is None:
        return ""
    effect = view["effect"] or _NO_EFFECT
    return _PROMPTS[view["decision"]].format(
        moving=moving(view),
        placed=placed(view),
        whose="the" if effect["who"] == view["seat"] else f"player {effect['who']}'s",
        left=effect["left"],
    )


def moving(view: Json) -> str:
    """Returns the preparation that is being moved, or ""."""
    position = view["window"]["moving"]
    if position is None:
        return ""
    owner, _, rest = position.partition("/")
    if owner.isdigit():
        return str(view["fields"][int(owner)]["free"][rest])
    return str(rest)


def placed(view: Json) -> str:
    """Returns the card that is taken or resolves, which may have to be placed; or ""."""
    if view["limbo"]:
        return str(view["limbo"])
    return str(view["acting"]["card"]) if view["acting"] else ""


def shield(view: Json, player: int, course: Course) -> str:
    """Returns how long a player's couples are protected from obstacles, or ""."""
    last = min(view["fields"][player]["shield_until"], last_turn(course))
    if view["stage"] == "over" or last < max(view["turn"], 0):
        return ""
    return f"shielded to turn {last + 1}"


def needs(table: Table, couple: Json) -> dict[str, bool]:
    """Returns the preparations that a couple requires, and whether each is attached."""
    return {name: name in couple["attached"] for name in table[couple["card"]].requirements}


def complete(table: Table, couple: Json) -> bool:
    """Returns whether a couple has all its requirements."""
    return all(needs(table, couple).values())


def face(card: Card) -> str:
    """Returns the kind, priority and text of a card."""
    words = KINDS[card.kind].capitalize()
    if card.subtype:
        words += f", {card.subtype}"
    if card.kind != REACTION:
        words += f", priority {card.priority}"
    return f"{words}. {card.text}".strip()


def obstacles_at(view: Json, couple: Json) -> list[Json]:
    """Returns the obstacles of a couple, in order of attachment."""
    return [entry for entry in view["obstacles"] if entry["couple"] == couple["card"]]


def copy_of(view: Json, obstacle: Json) -> str:
    """Returns an obstacle as in moves: `Bullying#1`, its first copy by attachment."""
    same = [entry for entry in view["obstacles"] if entry["card"] == obstacle["card"]]
    rank = next(rank for rank, entry in enumerate(same, 1) if entry is obstacle)
    return f"{obstacle['card']}#{rank}"


def looked_at(view: Json) -> list[str]:
    """Returns the cards of the deck or of another hand that the seat to act chooses from."""
    if view["decision"] == "HAND_DISCARD" and view["effect"]["who"] != view["seat"]:
        return list(view["known"][view["seat"]][view["effect"]["who"]])
    return view["look"] or []


class Entry(NamedTuple):
    """A card that waits to resolve, its player (None for nobody), and a note."""

    card: str
    by: int | None
    note: str
    cancelled: bool = False

    @property
    def words(self) -> str:
        """The entry as text."""
        notes = [self.note] if self.note else []
        if self.cancelled:
            notes.append("cancelled")
        return ", ".join(notes)


def happening(view: Json) -> list[Entry]:
    """Returns the cards that wait to resolve, the first to resolve first."""
    react = view["react"]
    acting = view["acting"]
    effect = view["effect"]
    entries = _pending(react) if react else []
    if react and react["kind"] == "prep_discarded":
        entries.append(Entry(react["card"], react["owner"], "was discarded from the field"))
    if view["limbo"]:
        entries.append(Entry(view["limbo"], None, "is to be placed"))
    if acting:
        entries.append(_acting(acting, react))
    if effect and effect["list"] != "on_resolve":
        entries.append(Entry(effect["card"], effect["by"], f"→ {effect['couple']}"))
    return entries


def _acting(acting: Json, react: Json | None) -> Entry:
    """Returns the card that resolves, with its targets."""
    aims = " and ".join(map(target, acting["targets"]))
    cancelled = False
    if react and react["kind"] != "prep_discarded":  # reactions to this card
        aims = react["couple"] or aims
        cancelled = react["cancelled"]
    note = f"→ {aims}" if aims else ""
    return Entry(acting["card"], acting["by"], note, cancelled)


def _pending(react: Json) -> list[Entry]:
    """Returns the reactions, latest first."""
    entries = []
    for place, reaction in enumerate(react["pending"]):
        answered = react
        if reaction["answers"] >= 0:
            answered = react["pending"][reaction["answers"]]
        note = f"answers {answered['card']}"
        if place == react["resolving"]:
            note += ", resolves"
        entries.append(Entry(reaction["card"], reaction["by"], note, reaction["cancelled"]))
    return entries[::-1]


def target(aim: str | int) -> str:
    """Returns `Love Letter of Pen Pals`, `item slot of player 1` or `player 1`; else `aim`."""
    if isinstance(aim, int):
        return f"player {aim}"
    owner, _, rest = aim.partition("/")
    if not rest:
        return owner
    if owner.isdigit():
        return f"{rest} slot of player {owner}"
    return f"{rest} of {owner}"
