"""Descriptions of a Love Formula position, read from its JSON (`to_dict`); for text and SVG."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from linkzoo.core.guide import winners_text
from linkzoo.games.love_formula.cards import KINDS, REACTION, Card
from linkzoo.games.love_formula.components import TURNS

Json = dict[str, Any]
Table = Mapping[str, Card]  # cards by name

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


def size(cards: list[str] | int) -> int:
    """Returns the number of cards, visible or only counted."""
    return cards if isinstance(cards, int) else len(cards)


def copies(cards: list[str]) -> dict[str, int]:
    """Returns the number of copies of each card, in order of first occurrence."""
    return {name: cards.count(name) for name in dict.fromkeys(cards)}


def held(view: Json, player: int) -> dict[str, list[str] | int]:
    """Returns the hand and, in a draft, the pack and the pile, as cards or counts."""
    names = ("hand", "pack", "pile") if view["stage"] == "draft" else ("hand",)
    return {name: view[f"{name}s"][player] for name in names}


def stage(view: Json) -> str:
    """Returns the half, the turn and its stage."""
    half = ("first", "second")[view["half"] - 1]
    if view["stage"] == "draft":
        return f"{half} draft"
    if view["stage"] == "over":
        return "end of the game"
    return f"{half} half, turn {view['turn'] + 1} of {2 * TURNS}, {view['stage']}"


def turn(view: Json) -> str:
    """Returns the turn or the winner as text."""
    if view["stage"] != "over":
        return "Another player to act" if view["seat"] is None else f"Player {view['seat']} to act"
    return winners_text(view["winners"], view["num_players"])


def remark(view: Json) -> str:
    """Returns the seat's decision or the final score; "" if the view doesn't show it."""
    if view["stage"] == "over":
        return " : ".join(map(str, view["vp"]))
    if view["seat"] is None:
        return ""
    effect = view["effect"] or {"who": None, "left": 0}
    return _PROMPTS[view["decision"]].format(
        moving=moving(view),
        placed=view["limbo"] or (view["acting"] or {"card": ""})["card"],
        whose="the" if effect["who"] == view["seat"] else f"player {effect['who']}'s",
        left=effect["left"],
    )


def moving(view: Json) -> str:
    """Returns the preparation that is being moved, or ""."""
    position = view["window"]["moving"]
    if position is None:
        return ""
    place, _, what = position.partition("/")
    return str(view["fields"][int(place)]["free"][what]) if place.isdigit() else what


def shield(view: Json, player: int) -> str:
    """Returns how long a player's couples are protected from obstacles, or ""."""
    last = min(view["fields"][player]["shield_until"], 2 * TURNS - 1)
    ended = view["stage"] == "over" or last < max(view["turn"], 0)
    return "" if ended else f"shielded to turn {last + 1}"


def needs(table: Table, couple: Json) -> dict[str, bool]:
    """Returns the preparations that a couple requires, and whether each is attached."""
    return {name: name in couple["attached"] for name in table[couple["card"]].requirements}


def complete(table: Table, couple: Json) -> bool:
    """Returns whether a couple has all that it requires."""
    return all(needs(table, couple).values())


def face(card: Card) -> str:
    """Returns what stands on a card below its name."""
    kind = f"{KINDS[card.kind]}, {card.subtype}" if card.subtype else KINDS[card.kind]
    priority = "" if card.kind == REACTION else f", priority {card.priority}"
    return f"{kind[:1].upper()}{kind[1:]}{priority}. {card.text}".strip()


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
    """A pending card, its owner (None for nobody), and a note."""

    card: str
    by: int | None
    note: str
    cancelled: bool = False

    @property
    def words(self) -> str:
        """The entry as text."""
        return ", ".join(filter(None, [self.note, "cancelled" * self.cancelled]))


def happening(view: Json) -> list[Entry]:
    """Returns the pending cards in order of resolution."""
    react, acting, effect = (view[name] for name in ("react", "acting", "effect"))
    found = _pending(react) if react else []
    if react and react["kind"] == "prep_discarded":
        found.append(Entry(react["card"], react["owner"], "was discarded from the field"))
    if view["limbo"]:
        found.append(Entry(view["limbo"], None, "is to be placed"))
    if acting:
        event = react if react and react["kind"] != "prep_discarded" else {}
        aims = event.get("couple") or " and ".join(map(target, acting["targets"]))
        note = f"→ {aims}" if aims else ""
        found.append(Entry(acting["card"], acting["by"], note, event.get("cancelled", False)))
    if effect and effect["list"] != "on_resolve":
        found.append(Entry(effect["card"], effect["by"], f"→ {effect['couple']}"))
    return found


def _pending(react: Json) -> list[Entry]:
    """Returns the reactions, latest first."""
    found = []
    for place, entry in enumerate(react["pending"]):
        answered = react if entry["answers"] < 0 else react["pending"][entry["answers"]]
        note = f"answers {answered['card']}"
        if place == react["resolving"]:
            note += ", resolves"
        found.append(Entry(entry["card"], entry["by"], note, entry["cancelled"]))
    return found[::-1]


def target(aim: str | int) -> str:
    """Returns `Love Letter of Pen Pals`, `item slot of player 1` or `player 1`; else `aim`."""
    if isinstance(aim, int):
        return f"player {aim}"
    place, _, what = aim.partition("/")
    if not what:
        return place
    return f"{what} slot of player {place}" if place.isdigit() else f"{what} of {place}"
