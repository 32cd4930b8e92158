"""The moves of Love Formula as text (section "Notation" of RULES.md)."""

from linkzoo.core.arguments import integer, shown, string
from linkzoo.core.state import Record
from linkzoo.games.love_formula.cards import COUPLE, OBSTACLE, SUBTYPES, Cards
from linkzoo.games.love_formula.components import MAX_PLAYERS, NEEDS, NONE, SLOTS
from linkzoo.games.love_formula.rules import fields


class MoveTexts:
    """The texts of cards, positions and moves with a table of cards."""

    def __init__(self, cards: Cards) -> None:
        self.cards = cards.cards
        self.names = [card.name for card in self.cards]
        self.couples = [self.names[number] for number in cards.of_kind(COUPLE)]
        self.requirements = [self.cards[number].requirements for number in cards.of_kind(COUPLE)]
        needs = [
            f"{couple}/{name}"
            for couple, required in zip(self.couples, self.requirements, strict=True)
            for name in (*required, "-")[:NEEDS]
        ]
        copies = [
            f"{self.names[number]}#{rank}"
            for number in cards.of_kind(OBSTACLE)
            for rank in range(1, self.cards[number].copies + 1)
        ]
        slots = [f"{seat}/{subtype}" for seat in range(MAX_PLAYERS) for subtype in SUBTYPES]
        self.positions = needs + slots
        self._texts = [
            *(f"CARD {name}" for name in self.names),
            *(f"POS {position}" for position in self.positions),
            *(f"COUPLE {name}" for name in self.couples),
            "FREE",
            *(f"OBSTACLE {copy}" for copy in copies),
            *(f"PLAYER {seat}" for seat in range(MAX_PLAYERS)),
            "PASS",
            "YES",
            "OPEN_DISCARD",
        ]
        self._actions = {text: action for action, text in enumerate(self._texts)}
        self._slots = self._actions[f"POS {slots[0]}"]
        self._players = self._actions["PLAYER 0"]

    def obstacle(self, state: Record, place: int) -> str:
        """Returns `Bullying#1`, the first of its copies by attachment."""
        rank = int(fields.obstacle_rank(state, place)) + 1
        return f"{self.names[state.obstacle_type[place]]}#{rank}"

    def action_to_text(self, state: Record, action: int) -> str:
        """Returns `CARD Cafe`, `POS 1/item`, …; ValueError outside the actions."""
        action = integer("action", action, 0, len(self._texts) - 1)
        return self._texts[self._turned(state, action, 1)]

    def action_parts(self, state: Record, action: int) -> tuple[str, ...]:
        """Returns the move's text alone: every decision is a single choice."""
        return (self.action_to_text(state, action),)

    def text_to_action(self, state: Record, text: str) -> int:
        """Returns the action of a move's text; ValueError if it is none of this table of cards."""
        if string("move", text) not in self._actions:
            raise ValueError(
                f"no move {shown(text)}; moves are like {self._texts[0]!r}, {self._texts[-8]!r} or "
                f"{self._texts[self._slots]!r}"
            )
        return self._turned(state, self._actions[text], -1)

    def _turned(self, state: Record, action: int, way: int) -> int:
        """Actions name seats by how far they are from the one to act (1), texts by number (-1)."""
        first = int(state.seat) if state.seat != NONE else 0
        for start, size in ((self._slots, SLOTS), (self._players, 1)):
            seat, rest = divmod(action - start, size)
            if 0 <= seat < int(state.num_players):
                return start + size * ((seat + way * first) % int(state.num_players)) + rest
        return action
