"""The moves of Love Formula as text (section "Notation" of RULES.md)."""

from linkzoo.core.arguments import integer, shown, string
from linkzoo.core.state import Record
from linkzoo.games.love_formula.cards import COUPLE, OBSTACLE, SUBTYPES, Card, Cards
from linkzoo.games.love_formula.components import (
    COUPLES,
    FREE_SLOT,
    MAX_PLAYERS,
    NEEDS,
    NONE,
    OBSTACLES,
    SLOTS,
)
from linkzoo.games.love_formula.rules import fields


class MoveTexts:
    """The texts of cards, positions and moves with a table of cards.

    Attributes:
        cards: The types of cards.
        names: Their names.
        couples: The names of the couples.
        requirements: The requirements of each couple.
        positions: The texts of the positions of preparations.
    """

    def __init__(self, cards: Cards) -> None:
        couples = [cards.cards[number] for number in cards.of_kind(COUPLE)]
        self.cards = cards.cards
        self.names = [card.name for card in self.cards]
        self.couples = [couple.name for couple in couples]
        self.requirements = [couple.requirements for couple in couples]
        slots = [f"{seat}/{subtype}" for seat in range(MAX_PLAYERS) for subtype in SUBTYPES]
        needs = [f"{couple.name}/{need}" for couple in couples for need in _padded(couple)]
        self.positions = _filled(needs, FREE_SLOT) + slots
        self._texts = [
            *(f"CARD {name}" for name in self.names),
            *(f"POS {position}" for position in self.positions),
            *(f"COUPLE {name}" for name in _filled(self.couples, COUPLES)),
            "FREE",
            *(f"OBSTACLE {text}" for text in _filled(_obstacle_texts(cards), OBSTACLES)),
            *(f"PLAYER {seat}" for seat in range(MAX_PLAYERS)),
            "PASS",
            "YES",
            "OPEN_DISCARD",
        ]
        self._actions = {text: action for action, text in enumerate(self._texts)}
        self._first_slot = self._actions[f"POS {slots[0]}"]
        self._first_player = self._actions["PLAYER 0"]

    def obstacle(self, state: Record, place: int) -> str:
        """Returns `Bullying#1`, the first of its copies by attachment."""
        rank = int(fields.obstacle_rank(state, place)) + 1
        return f"{self.names[state.obstacle_type[place]]}#{rank}"

    def action_to_text(self, state: Record, action: int) -> str:
        """Returns `CARD Cafe`, `POS 1/item`, …; ValueError outside the actions."""
        action = integer("action", action, 0, len(self._texts) - 1)
        return self._texts[self._rotated(state, action, _first_seat(state))]

    def action_parts(self, state: Record, action: int) -> tuple[str, ...]:
        """Returns the move's text alone: every decision is a single choice."""
        return (self.action_to_text(state, action),)

    def text_to_action(self, state: Record, text: str) -> int:
        """Returns the action of a move's text; ValueError if there is no such move."""
        if string("move", text) not in self._actions:
            raise ValueError(
                f"no move {shown(text)}; moves are like {self._texts[0]!r}, {self._texts[-8]!r} or "
                f"{self._texts[self._first_slot]!r}"
            )
        return self._rotated(state, self._actions[text], -_first_seat(state))

    def _rotated(self, state: Record, action: int, steps: int) -> int:
        """Returns an action with its seat, if it names one, moved so many steps clockwise.

        Actions count seats from the seat to act, texts from 0.
        """
        players = int(state.num_players)
        for first, size in ((self._first_slot, SLOTS), (self._first_player, 1)):
            seat, rest = divmod(action - first, size)
            if 0 <= seat < players:
                return first + size * ((seat + steps) % players) + rest
        return action


def _first_seat(state: Record) -> int:
    """Returns the seat from which actions count: the one to act, or 0 when the game is over."""
    return 0 if state.seat == NONE else int(state.seat)


def _padded(couple: Card) -> tuple[str, ...]:
    """Returns NEEDS requirements of a couple, `-` for a missing one."""
    return (*couple.requirements, "-")[:NEEDS]


def _filled(texts: list[str], length: int) -> list[str]:
    """Returns texts, and `-3` for a number that no card of a small table has."""
    return texts + [f"-{number}" for number in range(len(texts), length)]


def _obstacle_texts(cards: Cards) -> list[str]:
    """Returns the texts of all obstacles, such as `Bullying#1`, `Bullying#2`."""
    texts = []
    for number in cards.of_kind(OBSTACLE):
        card = cards.cards[number]
        texts += [f"{card.name}#{rank}" for rank in range(1, card.copies + 1)]
    return texts
