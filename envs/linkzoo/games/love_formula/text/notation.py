"""Positions of Love Formula as JSON (section "JSON" of RULES.md); `position.py` reads them."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from linkzoo.engine.compiled import Record
from linkzoo.games.love_formula.cards import LISTS, MAX_TYPES, STANDARD, SUBTYPES, TARGETS, Cards
from linkzoo.games.love_formula.options import Options
from linkzoo.games.love_formula.pieces import (
    ACTING_STEPS,
    ASK_DISCARD_MENU,
    DECISIONS,
    DRAFT,
    EVENTS,
    MAX_LENGTH,
    MAX_PLAYERS,
    NONE,
    ON_RESOLVE,
    OWN_OBSTACLE,
    RESOLVE,
    SELECT,
    STAGES,
    STEPS,
)
from linkzoo.games.love_formula.rules.table import STATE
from linkzoo.games.love_formula.text.moves import Moves
from linkzoo.core.positions import Head, or_none, winners_of

NAME, VERSION = "love_formula", 1

Json = dict[str, Any]


class Notation:
    """Positions with one table of cards, as JSON data.

    `fixed` are the options that are compiled in, with their `digest`, `rules` the compiled
    functions of the record.
    """

    def __init__(
        self, cards: Cards, fixed: Mapping[str, Any], digest: int, rules: SimpleNamespace
    ) -> None:
        self.cards, self.rules, self.moves = cards, rules, Moves(cards)
        self.head = Head(NAME, VERSION, Options, STATE, 2, MAX_PLAYERS, MAX_LENGTH, fixed, digest)

    def to_dict(self, state: Record, seat: int | None = None) -> Json:
        """The position as JSON data: the referee's, or what a `seat` sees (R6, R8)."""
        data = self._referee(state)
        return data if seat is None else self._seen_by(state, seat, data)

    def _referee(self, state: Record) -> Json:
        players = range(int(state.num_players))
        resolving = state.stage == RESOLVE
        own_table = self.head.fixed["cards"] != STANDARD
        return {
            **({"digest": f"{self.head.digest:012x}"} if own_table else {}),
            **self.head.write(state),
            "seat": or_none(state.seat),
            "ply": int(state.ply),
            "half": int(state.half),
            "turn": int(state.turn),
            "stage": STAGES[state.stage],
            "cursor": int(state.cursor),
            "step": STEPS[state.step] if resolving else "",
            "decision": None if state.decision == NONE else DECISIONS[state.decision],
            "deck": self._names(state.deck[: state.deck_size][::-1]),
            "discard": self._names(state.discard[: state.discard_size]),
            "reshuffles": int(state.reshuffles),
            "random_discards": int(state.random_discards),
            "hands": [self.held(state.hands[other]) for other in players],
            "piles": [self.held(state.piles[other]) for other in players],
            "packs": [self._pack(state, other) for other in players],
            "selected": [self.name(state.selected[other]) for other in players],
            "priorities": [or_none(state.priorities[other]) for other in players]
            if state.order_size
            else [],
            "order": state.order[: state.order_size].tolist(),
            "fields": [self._field(state, other) for other in players],
            "obstacles": [self._obstacle(state, place) for place in range(state.obstacle_count)],
            "window": {
                "move_used": bool(state.move_used),
                "discard_closed": bool(state.discard_closed),
                "menu": bool(state.decision == ASK_DISCARD_MENU),
                "moving": self._position(state.moving),
            },
            "acting": self._acting(state),
            "effect": self._effect(state),
            "look": self._names(state.look[: state.look_size]),
            "limbo": self.name(state.limbo),
            "react": self._react(state),
            "draft": [[self.name(card) for card in state.picks[pack]] for pack in players],
            "passed": self.passed(state),
            "taken": [self.held(state.taken[viewer]) for viewer in players],
            "known": [[self.held(state.known[v, other]) for other in players] for v in players],
            "hand_sizes_at_end": None
            if state.hand_sizes_at_end[0] == NONE
            else state.hand_sizes_at_end[: len(players)].tolist(),
            "vp": [int(self.rules.points(state, other)) for other in players],
            "winners": winners_of(state),
        }

    # Parts

    def name(self, card: Any) -> str | None:
        """A card, or None."""
        return None if card == NONE else self.moves.names[card]

    def _names(self, cards: Any) -> list[str]:
        return [self.moves.names[card] for card in cards]

    def held(self, counts: Any) -> list[str]:
        """Counted cards, by type."""
        names = self.moves.names
        return [names[card] for card in counts.nonzero()[0] for _ in range(counts[card])]

    def _pack(self, state: Record, seat: int) -> list[str]:
        """The pack that a seat holds."""
        if state.stage != DRAFT:
            return []
        return self.held(state.packs[self.rules.pack_of(state, seat)])

    def passed(self, state: Record) -> list[list[list[str]]]:
        """By seat and pack: what was left in it when the seat last passed it on."""
        players = range(int(state.num_players))
        if state.stage != DRAFT:
            return [[[] for _ in players] for _ in players]
        counts = np.zeros(MAX_TYPES, np.int8)
        found: list[list[list[str]]] = [[] for _ in players]
        for viewer in players:
            for pack in players:
                self.rules.left_when_passed(state, viewer, pack, counts)
                found[viewer].append(self.held(counts))
        return found

    def _position(self, position: Any) -> str | None:
        return None if position == NONE else self.moves.positions[position]

    def couple(self, number: Any) -> str | None:
        """A couple, or None."""
        return None if number == NONE else self.moves.couples[number]

    def _field(self, state: Record, seat: int) -> Json:
        return {
            "couples": [
                {"card": self.couple(couple), "attached": self._attached(state, couple)}
                for couple in np.flatnonzero(state.owner == seat)
            ],
            "free": {
                subtype: self.name(card)
                for subtype, card in zip(SUBTYPES, state.free[seat], strict=True)
            },
            "shield_until": int(state.shield[seat]),
        }

    def _attached(self, state: Record, couple: Any) -> list[str]:
        requirements = self.cards.cards[self.moves.types[self.moves.couples[couple]]].requirements
        bits = int(state.attached[couple])
        return [name for place, name in enumerate(requirements) if bits >> place & 1]

    def _obstacle(self, state: Record, place: int) -> Json:
        return {
            "card": self.name(state.obstacle_type[place]),
            "couple": self.couple(state.obstacle_couple[place]),
            "by": int(state.obstacle_by[place]),
            "turns_left": int(state.turns_left[place]),
        }

    def obstacle_text(self, state: Record, place: int) -> str:
        """`Bullying#1`: the first of its copies by attachment."""
        rank = int(self.rules.obstacle_rank(state, place)) + 1
        return f"{self.name(state.obstacle_type[place])}#{rank}"

    def _acting(self, state: Record) -> Json | None:
        if state.acting_card == NONE:
            return None
        return {
            "card": self.name(state.acting_card),
            "by": int(state.acting_by),
            "targets": self._targets(state),
            "step": ACTING_STEPS[state.acting_step],
        }

    def _targets(self, state: Record) -> list[Any]:
        """The targets that are chosen, as their kind is written."""
        kind = TARGETS.index(self.cards.cards[state.acting_card].target)
        return [self._target(state, kind, target) for target in state.targets if target != NONE]

    def _target(self, state: Record, kind: int, target: Any) -> Any:
        if kind == OWN_OBSTACLE:
            return self.obstacle_text(state, int(target))
        write: dict[str, Any] = {
            "opp_couple": self.couple,
            "opp_couple_incomplete": self.couple,
            "discard_prep_or_couple": self.name,
            "opp": int,
        }
        return write.get(TARGETS[kind], self._position)(target)

    def _effect(self, state: Record) -> Json | None:
        if state.effect_list == NONE:
            return None
        return {
            "card": self.name(state.effect_card),
            "by": int(state.effect_by),
            "list": LISTS[state.effect_list],
            "couple": self.couple(state.effect_couple),
            "obstacle": or_none(state.effect_obstacle),
            "targets": self._targets(state) if state.effect_list == ON_RESOLVE else [],
            "op": int(state.effect_op),
            "who": or_none(state.effect_who),
            "left": int(state.effect_left),
        }

    def _react(self, state: Record) -> Json | None:
        if state.event == NONE:
            return None
        return {
            "kind": EVENTS[state.event],
            "source": int(state.event_source),
            "card": self.name(state.event_card),
            "couple": self.couple(state.event_couple),
            "owner": or_none(state.event_owner),
            "cancelled": bool(state.event_cancelled),
            "redirected": bool(state.event_redirected),
            "recovered": bool(state.event_recovered),
            "poll": int(state.poll),
            "quiet": int(state.quiet),
            "resolving": or_none(state.resolving),
            "pending": [
                {
                    "card": self.name(state.pending_card[place]),
                    "by": int(state.pending_by[place]),
                    "answers": int(state.pending_answers[place]),
                    "cancelled": bool(state.pending_cancelled[place]),
                }
                for place in range(state.pending_size)
            ],
        }

    # What a seat sees

    def _seen_by(self, state: Record, seat: int, data: Json) -> Json:
        """Hides from the referee's view what a seat can't know."""
        del data["seed"], data["ply"]
        players = range(int(state.num_players))
        others = [other for other in players if other != seat]
        data["deck"] = len(data["deck"])
        for other in others:
            data["hands"][other] = self._other_hand(state, other)
            picked = int(self.rules.has_picked(state, other))
            data["piles"][other] = len(data["piles"][other]) - picked
            data["packs"][other] = len(data["packs"][other]) + picked
            if state.stage == SELECT:
                data["selected"][other] = None
            for name in ("passed", "taken", "known"):
                data[name][other] = None
        for pack, picks in enumerate(data["draft"]):
            for number, name in enumerate(picks):
                if name is not None and self.rules.holder_of(state, pack, number) != seat:
                    picks[number] = None
        if state.seat != seat:
            self._hide_turn(state, data)
        return data

    def _other_hand(self, state: Record, other: int) -> list[str] | int:
        """How many cards, the face-down one included; all of them while the hand lies open."""
        counts = state.hands[other].copy()
        if state.stage == SELECT and state.selected[other] != NONE:
            counts[state.selected[other]] += 1
        return self.held(counts) if self.rules.sees_hand(state, other) else int(counts.sum())

    def _hide_turn(self, state: Record, data: Json) -> None:
        """What tells who is asked, and what he looks at."""
        for name in ("seat", "decision", "window", "look"):
            data[name] = None
        if state.stage in (DRAFT, SELECT):
            data["cursor"] = None
        if data["react"] is not None:
            data["react"] |= {"poll": None, "quiet": None, "resolving": None}
