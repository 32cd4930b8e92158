"""Reads positions of Love Formula from JSON (section "JSON" of RULES.md), and checks them."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from linkzoo.engine.compiled import Record
from linkzoo.core.arguments import agrees, boolean, check_keys, integer, sequence, shown
from linkzoo.games.love_formula.cards import (
    ACTION,
    COUPLE,
    LISTS,
    MAX_LOOK,
    MAX_NUMBER,
    OBSTACLE,
    PREPARATION,
    REACTION,
    SUBTYPES,
    TARGETS,
)
from linkzoo.games.love_formula.pieces import (
    ACTING_STEPS,
    ASK_CHOICE,
    ASK_DISCARD_MENU,
    ASK_DRAFT,
    ASK_HAND_DISCARD,
    ASK_LOOK_KEEP,
    ASK_MOVE_DEST,
    ASK_PAY,
    ASK_PLACE,
    ASK_REACT,
    ASK_RECOVER,
    ASK_SELECT,
    ASK_SWAP_OWN,
    ASK_TARGET_COUPLE,
    ASK_TARGET_OBSTACLE,
    ASK_TARGET_PLAYER,
    ASK_TARGET_PREP,
    ASK_WINDOW,
    BY_ME,
    DECISIONS,
    DISCARD_HAND,
    DRAFT,
    EFFECT,
    END,
    EVENTS,
    LOOK_TOP,
    NONE,
    OBSTACLE_EVENT,
    OBSTACLES,
    ON_RESOLVE,
    OVER,
    OWN_OBSTACLE,
    PAY_TO_REMOVE,
    PICKS,
    POST,
    PRE,
    PREP_EVENT,
    REACTIONS,
    RESOLVE,
    SELECT,
    STAGES,
    STEPS,
    TAKE_PREP,
    TURNS,
)
from linkzoo.games.love_formula.rules.table import MAX_HAND, MOST
from linkzoo.games.love_formula.text.notation import Notation

_FIELDS = (
    "game version options seed num_players seat ply half turn stage cursor step decision deck "
    "discard reshuffles random_discards hands piles packs selected priorities order fields "
    "obstacles window acting effect look limbo react draft passed taken known hand_sizes_at_end "
    "vp winners"
).split()
_ASKED_BY_TARGET = {
    "opp_couple": ASK_TARGET_COUPLE,
    "opp_couple_incomplete": ASK_TARGET_COUPLE,
    "own_obstacle": ASK_TARGET_OBSTACLE,
    "discard_prep_or_couple": ASK_RECOVER,
    "opp": ASK_TARGET_PLAYER,
}


class Reader:
    """Positions with one table of cards, from the JSON data of a `Notation`."""

    def __init__(self, notation: Notation, num_actions: int) -> None:
        self._notation, self._num_actions = notation, num_actions
        self._cards, self._moves = notation.cards.cards, notation.moves
        self._rules = notation.rules

    def from_dict(self, data: Mapping[str, Any]) -> Record:
        """The record of the referee's `to_dict`; ValueError names what is wrong, and where."""
        state = self._notation.head.read(data, _FIELDS, optional=("digest",))
        self._rules.clear(state)
        self._read_course(state, data)
        self._read_piles(state, data)
        self._read_hands(state, data)
        self._read_fields(state, data["fields"])
        self._read_obstacles(state, data["obstacles"])
        self._read_draft(state, data)
        self._read_turn(state, data)
        self._read_frames(state, data)
        self._check_cards(state)
        self._read_knowledge(state, data)
        self._read_decision(state, data)
        wrong = self._rules.flaw(state, state.copy())
        if wrong:
            raise ValueError(wrong)
        return state

    # Words and numbers

    def _type(self, where: str, name: Any, kind: int | None = None) -> int:
        if not isinstance(name, str) or name not in self._moves.types:
            raise ValueError(f"{where}: no card {shown(name)}")
        number = self._moves.types[name]
        if kind is not None and self._cards[number].kind != kind:
            raise ValueError(f"{where}: {shown(name)} is of another type of card")
        return number

    def _type_or_none(self, where: str, name: Any, kind: int | None = None) -> int:
        return NONE if name is None else self._type(where, name, kind)

    def _couple(self, where: str, name: Any) -> int:
        self._type(where, name, COUPLE)
        return self._moves.couples.index(name)

    def _position(self, where: str, text: Any) -> int:
        if text not in self._moves.positions:
            raise ValueError(f"{where}: no position {shown(text)}")
        return self._moves.positions.index(text)

    def _counts(self, where: str, value: Any, into: Any) -> None:
        """Cards in any order, counted by type."""
        for name in sequence(where, value, 0, MAX_HAND):
            into[self._type(where, name)] += 1

    def _seat(self, state: Record, where: str, value: Any) -> int:
        return integer(where, value, 0, int(state.num_players) - 1)

    def _by_seat(self, state: Record, data: Mapping[str, Any], name: str) -> Any:
        players = int(state.num_players)
        return enumerate(sequence(name, data[name], players, players))

    # Zones

    def _read_course(self, state: Record, data: Mapping[str, Any]) -> None:
        """Where the game stands."""
        state.half = integer("half", data["half"], 1, 2)
        state.stage = _index("stage", data["stage"], STAGES)
        first = TURNS * (int(state.half) - 1)
        drafting = state.stage == DRAFT
        low, high = (first - 1, first - 1) if drafting else (first, first + TURNS - 1)
        state.turn = integer("turn", data["turn"], low, high)
        if state.stage == OVER and state.turn != 2 * TURNS - 1:
            raise ValueError(f"turn: {data['turn']}, but the game is over")
        state.step = _index("step", data["step"], STEPS)
        if (state.step != 0) != (state.stage == RESOLVE):
            raise ValueError(f"step: {shown(data['step'])} in the stage {shown(data['stage'])}")

    def _read_piles(self, state: Record, data: Mapping[str, Any]) -> None:
        """The deck, the discard pile, and what is looked at."""
        deck = sequence("deck", data["deck"], 0, len(state.deck))
        state.deck[: len(deck)] = [self._type("deck", name) for name in reversed(deck)]
        state.deck[len(deck) :] = NONE
        state.deck_size = len(deck)
        discard = sequence("discard", data["discard"], 0, len(state.discard))
        state.discard[: len(discard)] = [self._type("discard", name) for name in discard]
        state.discard_size = len(discard)
        look = sequence("look", data["look"], 0, MAX_LOOK)
        state.look[: len(look)] = [self._type("look", name) for name in look]
        state.look_size = len(look)
        state.limbo = self._type_or_none("limbo", data["limbo"], PREPARATION)
        state.reshuffles = integer("reshuffles", data["reshuffles"], 0, MOST)
        state.random_discards = integer("random_discards", data["random_discards"], 0, MOST)

    def _read_hands(self, state: Record, data: Mapping[str, Any]) -> None:
        for name in ("hands", "piles"):
            for seat, cards in self._by_seat(state, data, name):
                self._counts(f"{name}[{seat}]", cards, state[name][seat])
        state.hand_size[:] = state.hands.sum(1)
        for seat, name in self._by_seat(state, data, "selected"):
            state.selected[seat] = self._type_or_none(f"selected[{seat}]", name)
            if name is not None and (
                state.stage not in (SELECT, RESOLVE)
                or self._cards[state.selected[seat]].kind == REACTION
            ):
                raise ValueError(f"selected[{seat}]: {shown(name)} can't be selected now")

    def _read_fields(self, state: Record, value: Any) -> None:
        players = int(state.num_players)
        for seat, field in enumerate(sequence("fields", value, players, players)):
            where = f"fields[{seat}]"
            check_keys(where, field, ("couples", "free", "shield_until"))
            last = int(state.turn) + MAX_NUMBER
            state.shield[seat] = integer(f"{where}: shield_until", field["shield_until"], -1, last)
            check_keys(f"{where}: free", field["free"], SUBTYPES)
            for slot, subtype in enumerate(SUBTYPES):
                name = field["free"][subtype]
                card = self._type_or_none(f"{where}: free: {subtype}", name, PREPARATION)
                if card != NONE and self._cards[card].subtype != subtype:
                    raise ValueError(
                        f"{where}: free: {subtype}: {shown(name)} is of another subtype"
                    )
                state.free[seat, slot] = card
            for index, entry in enumerate(sequence(f"{where}: couples", field["couples"], 0, 24)):
                self._read_couple(state, seat, f"{where}: couples[{index}]", entry)

    def _read_couple(self, state: Record, seat: int, where: str, entry: Any) -> None:
        check_keys(where, entry, ("card", "attached"))
        couple = self._couple(f"{where}: card", entry["card"])
        if state.owner[couple] != NONE:
            raise ValueError(f"{where}: card: {shown(entry['card'])} lies in two fields")
        state.owner[couple] = seat
        requirements = self._cards[self._moves.types[entry["card"]]].requirements
        for name in sequence(f"{where}: attached", entry["attached"], 0, len(requirements)):
            if name not in requirements or state.attached[couple] >> requirements.index(name) & 1:
                raise ValueError(f"{where}: attached: {shown(name)} is not required (any more)")
            state.attached[couple] |= 1 << requirements.index(name)

    def _read_obstacles(self, state: Record, value: Any) -> None:
        for place, entry in enumerate(sequence("obstacles", value, 0, OBSTACLES)):
            where = f"obstacles[{place}]"
            check_keys(where, entry, ("card", "couple", "by", "turns_left"))
            card = self._type(f"{where}: card", entry["card"], OBSTACLE)
            couple = self._couple(f"{where}: couple", entry["couple"])
            if state.owner[couple] == NONE:
                raise ValueError(f"{where}: couple: {shown(entry['couple'])} lies in no field")
            by = self._seat(state, f"{where}: by", entry["by"])
            longest = max(self._cards[card].turns, 0)
            turns = integer(f"{where}: turns_left", entry["turns_left"], 0, longest)
            self._rules.attach_obstacle(state, card, couple, by, turns)

    # The draft

    def _read_draft(self, state: Record, data: Mapping[str, Any]) -> None:
        """Packs and picks; the piles hold what was picked."""
        for pack, picks in self._by_seat(state, data, "draft"):
            where = f"draft[{pack}]"
            named = sequence(where, picks, PICKS, PICKS)
            state.picks[pack] = [self._type_or_none(where, name) for name in named]
        players = int(state.num_players)
        if state.stage == DRAFT:
            state.cursor = self._seat(state, "cursor", data["cursor"])
            state.draft_round = int((state.picks[:players] != NONE).sum(1).min())
            state.draft_round = integer("draft", int(state.draft_round), 0, PICKS - 1)
        for seat, cards in self._by_seat(state, data, "packs"):
            pack = int(self._rules.pack_of(state, seat)) if state.stage == DRAFT else seat
            self._counts(f"packs[{seat}]", cards, state.packs[pack])
        self._check_draft(state)

    def _check_draft(self, state: Record) -> None:
        drafting = state.stage == DRAFT
        piles = np.zeros_like(state.piles)
        for pack in range(int(state.num_players)):
            done = int(state.draft_round)
            holder = int(self._rules.holder_of(state, pack, done)) if drafting else pack
            done += drafting and holder < state.cursor
            made = [int(card) for card in state.picks[pack] if card != NONE]
            if len(made) != done or NONE in state.picks[pack, :done]:
                raise ValueError(f"draft[{pack}]: {len(made)} picks, not the first {done}")
            if state.packs[pack].sum() != (PICKS - done if drafting else 0):
                raise ValueError(f"packs[{holder}]: not as many cards as there are picks to come")
            for number, card in enumerate(made):
                piles[self._rules.holder_of(state, pack, number), card] += 1
        for seat in range(int(state.num_players)):
            if not np.array_equal(piles[seat], state.piles[seat]):
                raise ValueError(f"piles[{seat}]: not what the seat picked")

    # The turn

    def _read_turn(self, state: Record, data: Mapping[str, Any]) -> None:
        """Order and priorities, and how far the stage has come."""
        players = int(state.num_players)
        order = sequence("order", data["order"], 0, players)
        if bool(order) != (state.stage in (RESOLVE, END)):
            raise ValueError(f"order: {shown(order)} in the stage {shown(data['stage'])}")
        for place, seat in enumerate(order):
            state.order[place] = self._seat(state, f"order[{place}]", seat)
        state.order_size = len(order)
        if len(set(order)) < len(order):
            raise ValueError(f"order: {order} names a seat twice")
        size = players if order else 0
        for seat, number in enumerate(sequence("priorities", data["priorities"], size, size)):
            where = f"priorities[{seat}]"
            if (number is None) == (seat in order):
                raise ValueError(f"{where}: {shown(number)}, but the order is {order}")
            state.priorities[seat] = NONE if number is None else integer(where, number, 0, MOST)
        if state.stage != DRAFT:
            last = {SELECT: players - 1, RESOLVE: len(order) - 1, OVER: 0}
            high = last.get(int(state.stage), int(state.obstacle_count) - 1)
            state.cursor = integer("cursor", data["cursor"], 0, high)
        for seat in range(players):
            if state.stage == SELECT and state.selected[seat] != NONE and seat >= state.cursor:
                raise ValueError(f"selected[{seat}]: the seat has not been asked yet")
        self._read_window(state, data["window"])

    def _read_window(self, state: Record, window: Any) -> None:
        check_keys("window", window, ("move_used", "discard_closed", "menu", "moving"))
        state.move_used = boolean("window: move_used", window["move_used"])
        state.discard_closed = boolean("window: discard_closed", window["discard_closed"])
        if window["moving"] is not None:
            where = "window: moving"
            state.moving = self._position(where, window["moving"])
            if self._rules.preparation_at(state, state.moving) == NONE:
                raise ValueError(f"{where}: nothing lies at {shown(window['moving'])}")

    # Frames

    def _read_frames(self, state: Record, data: Mapping[str, Any]) -> None:
        if data["acting"] is not None:
            self._read_acting(state, data["acting"])
        if data["effect"] is not None:
            self._read_effect(state, data)
        if data["react"] is not None:
            self._read_react(state, data["react"])

    def _read_acting(self, state: Record, acting: Any) -> None:
        check_keys("acting", acting, ("card", "by", "targets", "step"))
        if state.stage != RESOLVE or state.step != EFFECT:
            raise ValueError("acting: no card resolves now")
        state.acting_card = self._type("acting: card", acting["card"])
        state.acting_by = self._seat(state, "acting: by", acting["by"])
        agrees("acting: by", acting["by"], int(state.order[state.cursor]))
        state.acting_step = _index("acting: step", acting["step"], ACTING_STEPS)
        if state.selected[state.acting_by] not in (state.acting_card, NONE):
            raise ValueError(f"acting: card: {shown(acting['card'])} was not selected")
        kind = TARGETS.index(self._cards[state.acting_card].target)
        for index, target in enumerate(sequence("acting: targets", acting["targets"], 0, 2)):
            where = f"acting: targets[{index}]"
            state.targets[index] = self._target(state, where, kind, target)

    def _target(self, state: Record, where: str, kind: int, target: Any) -> int:
        if kind == OWN_OBSTACLE:
            places = range(int(state.obstacle_count))
            texts = [self._notation.obstacle_text(state, place) for place in places]
            if target not in texts:
                raise ValueError(f"{where}: no obstacle {shown(target)}")
            return texts.index(target)
        name = TARGETS[kind]
        if name.startswith("opp_couple"):
            return self._couple(where, target)
        if name == "discard_prep_or_couple":
            return self._type(where, target)
        if name == "opp":
            return self._seat(state, where, target)
        if name == "none":
            raise ValueError(f"{where}: the card has no targets")
        return self._position(where, target)

    def _read_effect(self, state: Record, data: Mapping[str, Any]) -> None:
        effect = data["effect"]
        keys = "card by list couple obstacle targets op who left"
        check_keys("effect", effect, keys.split())
        card = self._type("effect: card", effect["card"])
        which = _index("effect: list", effect["list"], LISTS)
        state.effect_card, state.effect_list = card, which
        state.effect_by = self._seat(state, "effect: by", effect["by"])
        count = len(self._cards[card].ops[which])
        state.effect_op = integer("effect: op", effect["op"], 0, count)
        if which == ON_RESOLVE:
            agrees("effect: card", effect["card"], (data["acting"] or {}).get("card"))
            agrees("effect: by", effect["by"], int(state.acting_by))
            agrees("effect: targets", effect["targets"], data["acting"]["targets"])
        else:
            agrees("stage", data["stage"], STAGES[1] if which == 1 else STAGES[4])
            agrees("effect: targets", effect["targets"], [])
            state.step = EFFECT
        if effect["obstacle"] is not None:
            last = int(state.obstacle_count) - 1
            place = integer("effect: obstacle", effect["obstacle"], 0, last)
            state.effect_obstacle = place
            agrees("effect: card", effect["card"], data["obstacles"][place]["card"])
        if effect["couple"] is not None:
            state.effect_couple = self._couple("effect: couple", effect["couple"])
        if (effect["couple"] is None) == (self._cards[card].kind == OBSTACLE):
            raise ValueError(f"effect: couple: {shown(effect['couple'])}")
        if effect["who"] is not None:
            state.effect_who = self._seat(state, "effect: who", effect["who"])
        state.effect_left = integer("effect: left", effect["left"], 0, MAX_HAND)

    def _read_react(self, state: Record, react: Any) -> None:
        keys = (
            "kind source card couple owner cancelled redirected recovered poll quiet resolving "
            "pending"
        )
        check_keys("react", react, keys.split())
        self._read_event(state, react)
        state.poll = self._seat(state, "react: poll", react["poll"])
        for name in ("cancelled", "redirected", "recovered"):
            state[f"event_{name}"] = boolean(f"react: {name}", react[name])
        state.quiet = integer("react: quiet", react["quiet"], 0, int(state.num_players))
        pending = sequence("react: pending", react["pending"], 0, REACTIONS)
        for place, entry in enumerate(pending):
            where = f"react: pending[{place}]"
            check_keys(where, entry, ("card", "by", "answers", "cancelled"))
            state.pending_card[place] = self._type(f"{where}: card", entry["card"], REACTION)
            state.pending_by[place] = self._seat(state, f"{where}: by", entry["by"])
            answers = integer(f"{where}: answers", entry["answers"], -1, place - 1)
            state.pending_answers[place] = answers
            state.pending_cancelled[place] = boolean(f"{where}: cancelled", entry["cancelled"])
        state.pending_size = len(pending)
        if react["resolving"] is not None:
            where = "react: resolving"
            state.resolving = integer(where, react["resolving"], 0, len(pending) - 1)
        if (react["resolving"] is None) != (state.quiet < state.num_players):
            raise ValueError(f"react: quiet: {react['quiet']}")

    def _read_event(self, state: Record, react: Any) -> None:
        """R19: the event is the card that resolves, or the loss of a preparation to an effect."""
        state.event = _index("react: kind", react["kind"], EVENTS)
        lost = state.event == PREP_EVENT
        source = state.effect_by if lost else state.acting_by
        state.event_source = self._seat(state, "react: source", react["source"])
        agrees("react: source", react["source"], int(source))
        kind = (OBSTACLE, ACTION, PREPARATION)[state.event]
        state.event_card = self._type("react: card", react["card"], kind)
        if not lost:
            agrees("react: card", react["card"], self._moves.names[state.acting_card])
        if state.event == OBSTACLE_EVENT:
            state.event_couple = self._couple("react: couple", react["couple"])
            agrees("react: couple", react["couple"], self._moves.couples[state.targets[0]])
            agrees("react: owner", react["owner"], int(state.owner[state.event_couple]))
        else:
            agrees("react: couple", react["couple"], None)
        if lost or state.event == OBSTACLE_EVENT:
            state.event_owner = self._seat(state, "react: owner", react["owner"])
        else:
            agrees("react: owner", react["owner"], None)

    # What must hold together

    def _check_cards(self, state: Record) -> None:
        """Every card is in exactly one place."""
        found: Counter[int] = Counter()
        for counts in (state.hands, state.piles, state.packs):
            found.update(dict(enumerate(counts.sum(0).tolist())))
        waiting = state.pending_size if state.resolving == NONE else state.resolving
        for cards in (
            state.deck,
            state.discard,
            state.look,
            state.selected,
            state.free.ravel(),
            state.obstacle_type,
            state.pending_card[:waiting],
            [state.limbo],
        ):
            found.update(int(card) for card in cards if card != NONE)
        for couple in np.flatnonzero(state.owner != NONE):
            card = self._moves.types[self._moves.couples[couple]]
            found[card] += 1
            for place, name in enumerate(self._cards[card].requirements):
                found[self._moves.types[name]] += int(state.attached[couple]) >> place & 1
        for card, held in enumerate(self._cards):
            copies = int(state.num_players) if held.job else held.copies
            if found[card] != copies:
                raise ValueError(f"cards: {found[card]} of {held.name!r}, not {copies}")
        for seat in range(int(state.num_players)):
            self._check_job(state, seat)

    def _check_job(self, state: Record, seat: int) -> None:
        """R2: everybody has one, in the hand or selected."""
        job = next(number for number, card in enumerate(self._cards) if card.job)
        if state.hands[seat, job] + (state.selected[seat] == job) != 1:
            raise ValueError(f"hands[{seat}]: not one {self._cards[job].name!r}, nor selected")

    def _read_knowledge(self, state: Record, data: Mapping[str, Any]) -> None:
        players = range(int(state.num_players))
        agrees("passed", data["passed"], self._notation.passed(state))
        for viewer, cards in self._by_seat(state, data, "taken"):
            self._counts(f"taken[{viewer}]", cards, state.taken[viewer])
        there = state.hands + state.piles
        if state.stage == SELECT:
            chosen = np.flatnonzero(state.selected != NONE)
            there[chosen, state.selected[chosen]] += 1
        for viewer, rows in self._by_seat(state, data, "known"):
            where = f"known[{viewer}]"
            for seat, cards in enumerate(sequence(where, rows, len(players), len(players))):
                known = state.known[viewer, seat]
                self._counts(f"{where}[{seat}]", cards, known)
                if (known > there[seat]).any():
                    raise ValueError(f"{where}[{seat}]: {cards} are not all there")
        sizes = data["hand_sizes_at_end"]
        if (sizes is None) == (state.stage == OVER):
            raise ValueError(
                f"hand_sizes_at_end: {shown(sizes)} in the stage {shown(data['stage'])}"
            )
        for seat in players if sizes is not None else ():
            where = f"hand_sizes_at_end[{seat}]"
            count = sequence("hand_sizes_at_end", sizes, len(players), len(players))[seat]
            state.hand_sizes_at_end[seat] = integer(where, count, 0, MAX_HAND)

    def _read_decision(self, state: Record, data: Mapping[str, Any]) -> None:
        """Who is asked for what follows from the rest; something must be possible."""
        state.seat = NONE
        if state.stage == OVER:
            agrees("decision", data["decision"], None)
            agrees("seat", data["seat"], None)
            self._rules.set_winners(state)
        else:
            expected, seat = self._expected(state)
            state.decision = _index("decision", data["decision"], DECISIONS)
            if state.decision not in expected:
                names = [DECISIONS[number] for number in expected]
                raise ValueError(f"decision: {shown(data['decision'])} is not one of {names}")
            agrees("seat", data["seat"], int(seat))
            state.seat = seat
            self._check_possible(state)
        told = self._notation.to_dict(state)
        for name in ("window", "vp", "winners"):
            agrees(name, data[name], told[name])

    def _check_possible(self, state: Record) -> None:
        mask = np.zeros(self._num_actions, np.int8)
        self._rules.legal_actions(state, mask)
        if not mask.any() or (state.decision == ASK_REACT and mask.sum() == 1):
            raise ValueError(f"decision: seat {state.seat} has nothing to decide")
        if (state.decision == ASK_MOVE_DEST) != (state.moving != NONE):
            raise ValueError("window: moving: the decision is another")

    def _expected(self, state: Record) -> tuple[tuple[int, ...], int]:
        """The decisions that the frames allow, and the seat that has to make them."""
        if state.event != NONE:
            if state.resolving == NONE:
                return (ASK_REACT,), state.poll
            return (ASK_TARGET_COUPLE,), state.pending_by[state.resolving]
        if state.effect_list != NONE:
            return self._expected_of_effect(state)
        if state.stage == DRAFT:
            return (ASK_DRAFT,), state.cursor
        if state.stage == SELECT:
            return (ASK_SELECT,), state.cursor
        if state.stage != RESOLVE:
            raise ValueError(f"stage: nothing is asked in {STAGES[state.stage]!r} but by effects")
        return self._expected_of_resolve(state), state.order[state.cursor]

    def _expected_of_resolve(self, state: Record) -> tuple[int, ...]:
        if state.step in (PRE, POST):
            return ASK_WINDOW, ASK_MOVE_DEST, ASK_DISCARD_MENU
        if state.acting_card == NONE:
            raise ValueError("acting: no card resolves")
        if self._cards[state.acting_card].kind == PREPARATION:
            return (ASK_PLACE,)
        asked = _ASKED_BY_TARGET.get(self._cards[state.acting_card].target, ASK_TARGET_PREP)
        return (asked if state.targets[0] == NONE else ASK_SWAP_OWN,)

    def _expected_of_effect(self, state: Record) -> tuple[tuple[int, ...], int]:
        if state.effect_op == len(self._cards[state.effect_card].ops[state.effect_list]):
            raise ValueError("effect: op: the list has ended")
        if state.effect_who == NONE:
            raise ValueError("effect: who: the op has not begun")
        op = self._rules.current_op(state)
        asked = {
            DISCARD_HAND: ASK_HAND_DISCARD,
            LOOK_TOP: ASK_LOOK_KEEP,
            TAKE_PREP: ASK_PLACE,
            PAY_TO_REMOVE: ASK_HAND_DISCARD if state.effect_left else ASK_PAY,
        }.get(int(op[0]), ASK_CHOICE)
        by_me = op[0] == DISCARD_HAND and op[3] == BY_ME
        return (asked,), state.effect_by if by_me else state.effect_who


def _index(where: str, value: Any, words: Any) -> int:
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{where}: {shown(value)} is not one of {list(words)}")
    return list(words).index(value)
