"""What both drawings of a Love Formula position show, read from its JSON (`to_dict`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from linkzoo.games.love_formula.cards import Card, Cards
from linkzoo.games.love_formula.pieces import TURNS

Json = dict[str, Any]
Table = Mapping[str, Card]  # by name

_ASKED = {
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


def by_name(cards: Cards) -> Table:
    """The cards by name."""
    return {card.name: card for card in cards.cards}


def count(number: int, thing: str) -> str:
    """`1 card`, `2 cards`."""
    return f"{number} {thing}{'s' * (number != 1)}"


def size(cards: list[str] | int) -> int:
    """How many cards there are, whether they are seen or only counted."""
    return cards if isinstance(cards, int) else len(cards)


def copies(cards: list[str]) -> dict[str, int]:
    """Cards in their first order, with how many of each there are."""
    return {name: cards.count(name) for name in dict.fromkeys(cards)}


def held(view: Json, player: int) -> dict[str, list[str] | int]:
    """The hand, and in a draft the pack and the pile, cards or their number."""
    names = ("hand", "pack", "pile") if view["stage"] == "draft" else ("hand",)
    return {name: view[f"{name}s"][player] for name in names}


def stage(view: Json) -> str:
    """The half, the turn and what happens in it."""
    half = ("first", "second")[view["half"] - 1]
    if view["stage"] == "draft":
        return f"{half} draft"
    if view["stage"] == "over":
        return "end of the game"
    return f"{half} half, turn {view['turn'] + 1} of {2 * TURNS}, {view['stage']}"


def turn(view: Json) -> str:
    """Who is to act, or who has won."""
    if view["stage"] != "over":
        return "Another player to act" if view["seat"] is None else f"Player {view['seat']} to act"
    if len(view["winners"]) == view["num_players"]:
        return "A draw"
    *others, last = map(str, view["winners"])
    return f"Players {', '.join(others)} and {last} win" if others else f"Player {last} wins"


def remark(view: Json) -> str:
    """What the seat is asked, or the final score; nothing if a seat's view doesn't tell."""
    if view["stage"] == "over":
        return " : ".join(map(str, view["vp"]))
    if view["seat"] is None:
        return ""
    effect = view["effect"] or {"who": None, "left": 0}
    return _ASKED[view["decision"]].format(
        moving=_preparation_at(view, view["window"]["moving"]),
        placed=view["limbo"] or (view["acting"] or {"card": ""})["card"],
        whose="the" if effect["who"] == view["seat"] else f"player {effect['who']}'s",
        left=effect["left"],
    )


def _preparation_at(view: Json, position: str | None) -> str:
    if position is None:
        return ""
    place, _, what = position.partition("/")
    return str(view["fields"][int(place)]["free"][what]) if place.isdigit() else what


def shield(view: Json, player: int) -> str:
    """How long no obstacle can be attached to a player's couples, or nothing."""
    last = min(view["fields"][player]["shield_until"], 2 * TURNS - 1)
    ended = view["stage"] == "over" or last < max(view["turn"], 0)
    return "" if ended else f"shielded to turn {last + 1}"


def needs(table: Table, couple: Json) -> dict[str, bool]:
    """The preparations that a couple requires, and whether they are attached."""
    return {name: name in couple["attached"] for name in table[couple["card"]].requirements}


def obstacles_at(view: Json, couple: Json) -> list[Json]:
    """The obstacles at a couple, in order of attachment."""
    return [entry for entry in view["obstacles"] if entry["couple"] == couple["card"]]


def copy_of(view: Json, obstacle: Json) -> str:
    """An obstacle as moves call it: `Bullying#1`, the first of its copies by attachment."""
    same = [entry for entry in view["obstacles"] if entry["card"] == obstacle["card"]]
    rank = next(rank for rank, entry in enumerate(same, 1) if entry is obstacle)
    return f"{obstacle['card']}#{rank}"


def looked_at(view: Json) -> list[str]:
    """The cards of the deck, or of another's hand, that the seat to act chooses from."""
    if view["decision"] == "HAND_DISCARD" and view["effect"]["who"] != view["seat"]:
        return list(view["known"][view["seat"]][view["effect"]["who"]])
    return view["look"] or []


@dataclass(frozen=True)
class Entry:
    """A card under way, whose it is (None: nobody's), and what about it."""

    card: str
    by: int | None
    note: str
    cancelled: bool = False


def happening(view: Json) -> list[Entry]:
    """The cards under way, those first that take effect first."""
    react, acting, effect = (view[name] for name in ("react", "acting", "effect"))
    found = _pending(react) if react else []
    if react and react["kind"] == "prep_discarded":
        found.append(Entry(react["card"], react["owner"], "was discarded from the field"))
    if view["limbo"]:
        found.append(Entry(view["limbo"], None, "is to be placed"))
    if acting:
        aims = " and ".join(map(_target, acting["targets"]))
        event = react if react and react["kind"] != "prep_discarded" else None
        if event and event["couple"]:
            aims = event["couple"]
        cancelled = bool(event and event["cancelled"])
        found.append(Entry(acting["card"], acting["by"], f"→ {aims}" if aims else "", cancelled))
    if effect and effect["list"] != "on_resolve":
        found.append(Entry(effect["card"], effect["by"], f"→ {effect['couple']}"))
    return found


def _pending(react: Json) -> list[Entry]:
    """The reactions, the last one first."""
    found = []
    for place, entry in enumerate(react["pending"]):
        answered = react if entry["answers"] < 0 else react["pending"][entry["answers"]]
        note = f"answers {answered['card']}"
        if place == react["resolving"]:
            note += ", resolves"
        found.append(Entry(entry["card"], entry["by"], note, entry["cancelled"]))
    return found[::-1]


def _target(target: str | int) -> str:
    """`Love Letter of Pen Pals`, `item slot of player 1`, `player 1`, or as it is."""
    if isinstance(target, int):
        return f"player {target}"
    place, _, what = target.partition("/")
    if not what:
        return place
    return f"{what} slot of player {place}" if place.isdigit() else f"{what} of {place}"
