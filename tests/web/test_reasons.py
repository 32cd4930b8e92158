"""Reasons of reports: the slow models of the rules calculate each number and fact anew."""

import re
from collections.abc import Callable, Iterator
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkzoo import Game, get_game
from linkzoo.core.guide import FeatureReason
from linkzoo.registry import NAMES
from linkzoo.testing.play import clone, mask_of, new
from linkzoo_training.web.reasons import reasons
from tests.driving import first_quick
from tests.link_o.oracle import Laid, ends, points, read_move, type_of
from tests.link_o.oracle import Oracle as LinkO
from tests.linkage.oracle import count_groups, neighbours
from tests.love_formula.oracle import read_table
from tests.love_links.oracle import LINKS, Undealt, fits
from tests.love_links.oracle import read_move as read_join

Json = dict[str, Any]
CARDS = read_table(Path("envs/linkzoo/games/love_formula/cards.csv").absolute())
ALL = 99  # reasons: more than there are


def decisions(game: Game, players: int, seed: int, every: int) -> Iterator[np.record]:
    """Positions with a choice of a game between players that mostly look one move ahead."""
    rng = np.random.default_rng(seed)
    state = new(game, players, {}, seed)
    number = 0
    while state.seat >= 0:
        legal = np.flatnonzero(mask_of(game, state))
        if len(legal) > 1:
            number += 1
            if number % every == 0:
                yield state
        values = rng.random(len(legal))
        for row, action in enumerate(legal[:40] if rng.random() < 0.7 else ()):
            after = clone(state)
            game.rules.apply(after, int(action))
            values[row] += game.heuristic(state, after, state.seat)
        game.rules.apply(state, int(legal[values.argmax()]))


def pairs(game: Game, state: np.record, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Some pairs of legal moves."""
    legal = np.flatnonzero(mask_of(game, state))
    for _ in range(3):
        played, better = rng.choice(legal, 2, replace=False)
        yield int(played), int(better)


# LINK-O: features by name, from the position before and a move


def link_o_after(before: Json, move: str) -> LinkO:
    """The position after the placement, and before anybody draws."""
    model = LinkO.read(before)
    space, tile = read_move(move)
    model.hands[before["seat"]].remove(type_of(tile))
    model.laid[space] = Laid(tile, before["seat"])
    model.settle()
    return model


def link_o_facts(game: Game, state: np.record, action: int) -> dict[str, int]:
    before = game.to_dict(state, None)
    seat = before["seat"]
    after = link_o_after(before, game.notation.action_to_text(state, action))
    hand = after.hands[seat]
    unseen = [*before["bag"]]
    for other, tiles in enumerate(before["hands"]):
        if other != seat:
            unseen += tiles
    spaces = {
        tile: {read_move(way)[0] for way in after.placements(tile, False)}
        for tile in after.board.tiles
    }
    theirs = set().union(*(spaces[tile] for tile in unseen)) if unseen else set()
    ours = set().union(*(spaces[tile] for tile in hand)) if hand else set()
    fitting = [tile for tile in unseen if spaces[tile]]
    chances = []
    for step in range(1, before["num_players"]):
        other = (seat + step) % before["num_players"]
        free = [tile for tile in unseen if tile not in before["lacks"][other]]
        first = before["first_turn"][other]
        able = [tile for tile in free if any(after.placements(tile, first))]
        size = len(before["hands"][other])
        chances.append(comb(len(free) - len(able), size) / max(comb(len(free), size), 1))
    return {
        "goes_out": int(not hand),
        "stuck_points": sum(points(tile) for tile in hand if not spaces[tile]),
        "fitting": sum(bool(spaces[tile]) for tile in hand),
        "secure": sum(bool(spaces[tile] - theirs) for tile in hand),
        "own_spaces": len(ours - theirs),
        "placements": sum(len(spaces[tile]) for tile in set(hand)),
        "hand_linkos": sum(ends(tile) is None for tile in hand),
        "hand_points": sum(points(tile) for tile in hand),
        "next_stuck": int(100 * chances[0] + 1e-9),
        "all_stuck": int(100 * np.prod(chances) + 1e-9),
        "unseen_share": 100 * len(fitting) // max(len(unseen), 1),
    }


# Love Links


def love_links_facts(game: Game, state: np.record, action: int) -> dict[str, int]:
    model = Undealt.read(game.to_dict(state, None))
    assert model.seat is not None
    seat = model.seat
    players = model.setup.num_players
    brought = model.apply(read_join(game.notation.action_to_text(state, action)))

    def closings(other: int) -> dict[str, int]:
        """The points of each link of a hand that closes a bracelet."""
        best: dict[str, int] = {}
        for number, link in enumerate(model.hands[other]):
            for slot, chain in model.board.items():
                at_key = fits(LINKS[chain[0][0]].key, LINKS[link].lock)
                at_lock = fits(LINKS[link].key, LINKS[chain[-1][0]].lock)
                if at_key and at_lock and len(chain) >= 4:
                    gain = model.close_points([*model.board[slot], (link, other)], other)
                    name = f"{link} {number}"
                    best[name] = max(best.get(name, 0), gain)
        return best

    def joins(other: int, *, only_matches: bool) -> int:
        total = 0
        for link in model.hands[other]:
            for chain in model.board.values():
                first, last = LINKS[chain[0][0]].key, LINKS[chain[-1][0]].lock
                key, lock = LINKS[link].key, LINKS[link].lock
                total += fits(first, lock) and (not only_matches or first == lock)
                total += fits(key, last) and (not only_matches or key == last)
        return total

    following = (seat + 1) % players
    most = {other: max(closings(other).values(), default=0) for other in range(players)}
    rest = [other for other in range(players) if other not in (seat, following)]
    return {
        "points": brought,
        "next_close": most[following],
        "own_close": most[seat],
        "other_close": max((most[o] for o in rest if model.side(o) != model.side(seat)), default=0),
        "partner_close": max(
            (most[o] for o in rest if model.side(o) == model.side(seat)), default=0
        ),
        "next_closes": len(closings(following)),
        "own_matches": joins(seat, only_matches=True),
        "next_matches": joins(following, only_matches=True),
        "own_joins": joins(seat, only_matches=False),
        "next_joins": joins(following, only_matches=False),
    }


# Love Formula


def barred(view: Json, couple: str) -> bool:
    at = [entry["card"] for entry in view["obstacles"] if entry["couple"] == couple]
    return any(CARDS[card].static.get("no_attach") for card in at)


def lacking(view: Json, couple: Json, card: str) -> bool:
    """Whether a couple takes a card."""
    needs = CARDS[couple["card"]].requirements
    return card in needs and card not in couple["attached"] and not barred(view, couple["card"])


def incomplete(view: Json, seat: int, held: list[str]) -> dict[tuple[int, int], int]:
    """Incomplete couples in the field or at hand, by requirements and cards out of reach."""
    field = view["fields"][seat]
    at_hand = {*held, *(card for card in field["free"].values() if card)}
    counts: dict[tuple[int, int], int] = {}
    attached = {couple["card"]: couple["attached"] for couple in field["couples"]}
    for name in {*attached, *(card for card in held if CARDS[card].type == "couple")}:
        needs = CARDS[name].requirements
        if len(attached.get(name, ())) == len(needs):
            continue
        missing = sum(card not in (*at_hand, *attached.get(name, ())) for card in needs)
        counts[len(needs), missing] = counts.get((len(needs), missing), 0) + 1
    return counts


def love_formula_points(view: Json, seat: int) -> int:
    field = view["fields"][seat]
    total = sum(card is not None for card in field["free"].values())
    for couple in field["couples"]:
        needs = CARDS[couple["card"]].requirements
        at = [CARDS[e["card"]].static for e in view["obstacles"] if e["couple"] == couple["card"]]
        worth = 1
        if len(couple["attached"]) == len(needs):
            worth = {2: 4, 3: 9}[len(needs)]
            if any(static.get("vp_halve") for static in at):
                worth //= 2
        total += len(couple["attached"]) + worth + sum(static.get("vp", 0) for static in at)
    return total


def love_formula_change(view: Json, move: str) -> int:
    """The change of the mover's points by placing, moving or discarding a card of the field."""
    seat = view["seat"]
    field = view["fields"][seat]
    before = love_formula_points(view, seat)
    couples = {couple["card"]: couple for couple in field["couples"]}

    def take(position: str) -> str:
        owner, _, name = position.partition("/")
        if owner in couples:
            couples[owner]["attached"].remove(name)
            return name
        card = str(field["free"][name])
        field["free"][name] = None
        return card

    kind, _, name = move.partition(" ")
    if view["decision"] in ("PLACE", "MOVE_DEST"):
        card = view["limbo"] or (view["acting"] or {}).get("card") or view["selected"][seat]
        if view["decision"] == "MOVE_DEST":
            card = take(view["window"]["moving"])
        if kind == "COUPLE":
            couples[name]["attached"].append(card)
        else:
            field["free"][CARDS[card].subtype] = card
    elif view["decision"] == "DISCARD_MENU" and kind == "POS":
        take(name)
    elif view["decision"] == "DISCARD_MENU" and kind == "COUPLE":
        field["couples"].remove(couples[name])
    return love_formula_points(view, seat) - before


def love_formula_facts(game: Game, state: np.record, action: int) -> dict[str, int]:
    view = game.to_dict(state, None)
    seat = view["seat"]
    field = view["fields"][seat]
    move = game.notation.action_to_text(state, action)
    kind, _, name = move.partition(" ")
    facts = {"points": love_formula_change(game.to_dict(state, None), move)}
    held = [*view["hands"][seat], *view["piles"][seat]]
    if kind == "CARD" and view["decision"] in ("SELECT", "DRAFT"):
        card = CARDS[name]
        takers = [couple for couple in field["couples"] if lacking(view, couple, name)]
        last = [c for c in takers if len(c["attached"]) + 1 == len(CARDS[c["card"]].requirements)]
        preparation = card.type == "preparation"
        facts["stuck"] = int(preparation and not takers and field["free"][card.subtype] is not None)
        facts["completes3"] = int(any(len(CARDS[c["card"]].requirements) == 3 for c in last))
        facts["completes2"] = int(any(len(CARDS[c["card"]].requirements) == 2 for c in last))
        facts["advances"] = int(len(takers) > len(last))
        couples = {other for other in held if CARDS[other].type == "couple"}
        facts["wanted"] = sum(name in CARDS[other].requirements for other in couples)
        at_hand = {*held, *(other for other in field["free"].values() if other)}
        facts["met"] = sum(need in at_hand for need in card.requirements)
        change = sum(
            CARDS[entry["card"]].static.get("priority_mod", 0)
            for entry in view["obstacles"]
            if entry["couple"] in [couple["card"] for couple in field["couples"]]
        )
        facts["priority"] = max(0, card.priority + change)
        step = 1 if view["half"] == 1 else -1
        following = view["fields"][(seat + step) % view["num_players"]]
        facts["next_needs"] = sum(
            name in CARDS[c["card"]].requirements and name not in c["attached"]
            for c in following["couples"]
        )
        pack = {
            game.notation.action_to_text(state, int(a))[5:]
            for a in np.flatnonzero(mask_of(game, state))
        }
        facts["pack"] = sum(name in CARDS[other].requirements for other in pack)
        if card.type == "couple":
            facts["pack"] = sum(need in pack for need in card.requirements)
    if kind == "CARD" and view["decision"] in ("DRAFT", "LOOK_KEEP", "RECOVER"):
        old = incomplete(view, seat, held)
        now = incomplete(view, seat, [*held, name])
        for label, key in {
            "ready3": (3, 0),
            "ready2": (2, 0),
            "near3": (3, 1),
            "near2": (2, 1),
        }.items():
            facts[label] = now.get(key, 0) - old.get(key, 0)
    if kind == "COUPLE" and view["decision"] == "TARGET_COUPLE":
        owners = {c["card"]: (p, c) for p, f in enumerate(view["fields"]) for c in f["couples"]}
        owner, couple = owners[name]
        others = [love_formula_points(view, p) for p in range(view["num_players"]) if p != seat]
        facts["target_met"] = len(couple["attached"])
        facts["target_first"] = int(love_formula_points(view, owner) == max(others))
    return facts


FACTS: dict[str, Callable[[Game, np.record, int], dict[str, int]]] = {
    "link_o": link_o_facts,
    "love_links": love_links_facts,
    "love_formula": love_formula_facts,
}


def pattern(reason: FeatureReason) -> re.Pattern[str]:
    """The sentences of a template, with its numbers as groups `better` and `played`."""
    words = re.escape(reason.words).replace(r"\ ", " ").replace(r"\{", "{").replace(r"\}", "}")

    def amount(place: re.Match[str]) -> str:
        name, thing = place[1], place[2]
        if thing is None:
            return rf"(?P<{name}>-?\d+)"
        return rf"(?P<{name}>no|-?\d+) {thing}s?"

    return re.compile(re.sub(r"\{(\w+)(?::([^}]*))?\}", amount, words))


def number(text: str) -> int:
    return 0 if text == "no" else int(text)


def checked(game: Game, state: np.record, played: int, better: int) -> set[str]:
    """Checks all reasons of two moves; returns the features that they are about."""
    features: set[str] = set()
    sentences = reasons(game, state, played, better, ALL)
    if not sentences:
        return features
    new_facts = FACTS[game.name](game, state, better)
    old_facts = FACTS[game.name](game, state, played)
    for sentence in sentences:
        (found,) = {
            (reason.feature, match)
            for reason in {(r.feature, r.words): r for r in game.guide.feature_reasons}.values()
            if (match := pattern(reason).fullmatch(sentence))
        }
        feature, match = found
        sign = next(r.sign for r in game.guide.feature_reasons if r.feature == feature)
        values = match.groupdict()
        context = f"{game.notation.action_to_text(state, better)}: {sentence}"
        slack = 1 if "about" in sentence else 0  # percent, rounded down
        if "better" in values:
            assert abs(number(values["better"]) - new_facts[feature]) <= slack, context
        if "played" in values:
            assert abs(number(values["played"]) - old_facts[feature]) <= slack, context
        assert sign * (new_facts[feature] - old_facts.get(feature, 0)) > 0, context
        features.add(feature)
    return features


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "players", "every"),
    first_quick(
        [
            ("link_o", 4, 9),
            ("love_links", 4, 1),
            ("love_formula", 4, 1),
            ("link_o", 2, 3),
            ("love_links", 2, 1),
            ("love_links", 3, 1),
            ("love_formula", 2, 1),
        ],
        1,
        0,
    ),
)
def test_reasons_state_facts(name: str, players: int, every: int) -> None:
    game = get_game(name)
    rng = np.random.default_rng(players)
    features = set()
    for seed in range(3):
        for state in decisions(game, players, seed, every):
            for played, better in pairs(game, state, rng):
                features |= checked(game, state, played, better)
    assert len(features) >= 6


# Linkage: the sentences are read, and their facts taken from the cells


def cells_of(view: Json) -> dict[tuple[int, int], str]:
    return {(r, c): x for r, row in enumerate(view["board"]) for c, x in enumerate(row)}


def groups_of(view: Json) -> int:
    return count_groups(
        {cell: "WBRY".index(x) for cell, x in cells_of(view).items() if x in "WBRY"}
    )


def after(game: Game, state: np.record, action: int) -> np.record:
    follower = clone(state)
    game.rules.apply(follower, action)
    return follower


def replies(game: Game, state: np.record) -> list[int]:
    moves = np.flatnonzero(mask_of(game, state))
    return [groups_of(game.to_dict(after(game, state, int(move)), None)) for move in moves]


def cells_to_join(view: Json) -> int:
    """The empty cells beside the group of the last domino."""
    cells = cells_of(view)
    letter, *names = view["pieces"][-1]
    group = {(int(name[1]) - 1, "abcdefg".index(name[0])) for name in names}
    while True:
        beside = {cell for one in group for cell in neighbours(one)}
        more = {cell for cell in beside if cells.get(cell) == letter} - group
        if not more:
            return sum(cells.get(cell) == "." for cell in beside)
        group |= more


def linkage_holds(game: Game, state: np.record, played: int, better: int, sentence: str) -> str:
    """Checks a sentence; returns its kind."""
    seat = int(state.seat)
    good, bad = after(game, state, better), after(game, state, played)
    shown, other = game.to_dict(good, None), game.to_dict(bad, None)
    groups, groups_played = groups_of(shown), groups_of(other)
    numbers = [
        int(text) for text in re.findall(r"\b\d+\b", re.sub(r"\(R.*\)|player \d", "", sentence))
    ]
    more = seat == shown["more"]
    needed = shown["options"]["threshold"]
    if "It ends the game" in sentence:
        assert numbers == [groups]
        assert good.seat < 0
        assert good.winners == 1 << seat
        return "ends"
    if "The move played ends" in sentence:
        assert numbers == [groups_played]
        assert bad.seat < 0
        assert bad.winners == 2 >> seat
        return "prevents"
    if "must pass" in sentence:
        assert good.seat == seat
        assert bad.seat != seat
        return "pass"
    if "More needs" in sentence:
        assert numbers == [groups, needed]
        assert more
        assert groups >= needed > groups_played
        return "reaches"
    if "fewer than" in sentence:
        assert numbers == [groups, needed, groups_played]
        assert groups < needed <= groups_played
        return "below"
    if "at least" in sentence:
        assert numbers == [min(replies(game, good)), min(replies(game, bad))]
        assert more
        return "apart"
    if "at most" in sentence:
        assert numbers == [max(replies(game, good)), max(replies(game, bad))]
        assert not more
        return "stops"
    if "for a domino" in sentence:
        supply = sum(left > 0 for left in shown["supply"].values())
        supply_played = sum(left > 0 for left in other["supply"].values())
        assert numbers == [
            len(replies(game, good)) // supply,
            len(replies(game, bad)) // supply_played,
        ]
        return "places"
    if "can be joined" in sentence:
        assert numbers == [cells_to_join(shown), cells_to_join(other)]
        return "room"
    assert numbers == [groups, groups_played], sentence
    assert ("only" in sentence) == (groups < groups_played)
    return "groups"


@pytest.mark.slow
@pytest.mark.parametrize(("games", "least"), first_quick([(4, 7), (12, 8)], slow=0))
def test_reasons_of_linkage_state_facts(games: int, least: int) -> None:
    game = get_game("linkage")
    rng = np.random.default_rng(1)
    kinds = set()
    for seed in range(games):
        for state in decisions(game, 2, seed, 1):
            for played, better in pairs(game, state, rng):
                for sentence in reasons(game, state, played, better, ALL):
                    kinds.add(linkage_holds(game, state, played, better, sentence))
    assert len(kinds) >= least, kinds


@pytest.mark.parametrize("name", NAMES)
def test_each_game_has_six_templates_of_known_features(name: str) -> None:
    game = get_game(name)
    if name == "linkage":
        from linkzoo.games.linkage.reasons import REASONS

        assert len(REASONS) >= 6
        return
    spec = game.observation.action_spec
    assert spec is not None
    names = {part.name for part in spec.parts}
    used = {reason.feature for reason in game.guide.feature_reasons}
    assert len(used) >= 6
    assert used <= names
    assert {one for reason in game.guide.feature_reasons for one in reason.given} <= names
