"""Love Formula's drawings: pictures and text are read back and compared with the JSON they show."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, combinations
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from linkzoo.games.love_formula.cards import Cards, load_cards
from linkzoo.games.love_formula.svg import draw_svg
from linkzoo.games.love_formula.text import draw_text
from linkzoo.svg.letters import width_of
from linkzoo.svg.raster import rasterise
from tests.love_formula.helpers import (
    GAME,
    JOB,
    TABLE,
    both,
    legal_list,
    play_on,
    play_text,
    position,
    read,
    start,
)
from tests.love_formula.oracle import Json, Setup

SVG = "{http://www.w3.org/2000/svg}"
CARDS = load_cards("standard")
KINDS = {card.name: card.kind for card in CARDS.cards}
View = tuple[Json, int | None]


@cache
def states() -> list[np.record]:
    """For 2 and 4 players, random positions of every stage and every kind of decision met."""
    positions = []
    for players in (2, 4):
        state, rng = start(Setup(players), players), np.random.default_rng(players)
        seen = set[tuple[int, int]]()
        while state.seat >= 0:
            kind = int(state.decision), int(state.half)
            if kind not in seen:
                seen.add(kind)
                positions.append(state.copy())
            GAME.rules.apply(state, int(rng.choice(moves_of(state))))
        positions.append(state.copy())
    return positions


def moves_of(state: np.record) -> Any:
    """The legal moves, but for voluntary discards mostly, so that fields fill."""
    moves = legal_list(state)
    never = GAME.notation.text_to_action(state, "OPEN_DISCARD")
    return moves[moves != never] if moves.size > 1 and state.ply % 9 else moves


@cache
def views() -> list[View]:
    """The referee's views of them, and those of the seat to act, if any, and of another."""
    return [
        (GAME.to_dict(state, seat), seat)
        for state in states()
        for seat in (None, int(max(state.seat, 0)), (state.seat + 1) % state.num_players)
    ]


@cache
def pictured() -> list[tuple[Json, int | None, ElementTree.Element]]:
    """These views with their pictures."""
    return [(view, seat, parsed(view, seat)) for view, seat in views()]


def crowded() -> Json:
    """All couples, all obstacles at one of them, all reactions pending, and very full hands."""
    data: Json = GAME.to_dict(read(position([{}] * 4, {1: "Cold Feet"})))
    couples, obstacles = TABLE.of("couple"), TABLE.of("obstacle")
    rows = [
        {"card": name, "attached": list(TABLE[name].requirements)[: number % 4]}
        for number, name in enumerate(couples)
    ]
    data["fields"][0]["couples"], data["fields"][3]["couples"] = rows[:20], rows[20:]
    data["obstacles"] = [
        {"card": name, "couple": couples[0], "by": number % 4, "turns_left": number % 4}
        for number, name in enumerate(2 * obstacles)
    ]
    names = [card.name for card in CARDS.cards]
    data["hands"] = [names[:53], names[11:], names[:3], 53]
    data["discard"] = data["deck"] + data["discard"]
    reactions = TABLE.of("reaction")
    pending = [
        {"card": reactions[n % 5], "by": n % 4, "answers": n - 1, "cancelled": n % 3 == 0}
        for n in range(8)
    ]
    event = {"kind": "obstacle", "card": "Cold Feet", "couple": couples[0], "cancelled": True}
    data["react"] = event | {"pending": pending, "resolving": 6}
    data["acting"] = {"card": "Cold Feet", "by": 1, "targets": [couples[0]], "step": "react"}
    data["fields"][2]["shield_until"] = 19
    return data


def draft_of_many() -> Json:
    """The same fields in a draft with all packs seen."""
    data = crowded()
    names = [card.name for card in CARDS.cards]
    data |= {"stage": "draft", "decision": "DRAFT", "react": None, "acting": None, "order": []}
    return data | {"packs": [names[:12]] * 4, "piles": [names[20:32]] * 4}


def renamed(view: Any, names: dict[str, str]) -> Any:
    """The same view with other names of cards."""
    if isinstance(view, dict):
        return {key: renamed(value, names) for key, value in view.items()}
    if isinstance(view, list):
        return [renamed(value, names) for value in view]
    return names.get(view, view) if isinstance(view, str) else view


def with_long_names() -> tuple[dict[str, str], Cards]:
    """Another table: names that fit no box, with characters that XML must escape."""
    names = {
        card.name: f"<{number} & \"W\" 'W'> {'wide words ' * 3}{'M' * 60}"
        for number, card in enumerate(CARDS.cards)
    }
    table = [
        replace(
            card, name=names[card.name], requirements=tuple(names[n] for n in card.requirements)
        )
        for card in CARDS.cards
    ]
    return names, Cards(tuple(table), "")


def parsed(view: Json, seat: int | None = None, cards: Cards = CARDS) -> ElementTree.Element:
    # Our own drawing, so there is nothing to distrust in it.
    return ElementTree.fromstring(draw_svg(view, cards, seat))  # noqa: S314


def words(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def marked(root: ElementTree.Element, mark: str) -> Iterator[ElementTree.Element]:
    """The groups with a mark, in drawing order."""
    return (element for element in root.iter(f"{SVG}g") if element.get(f"data-{mark}"))


def named(root: ElementTree.Element, mark: str = "card") -> Counter[str]:
    return Counter(str(element.get(f"data-{mark}")) for element in marked(root, mark))


def fields_of(root: ElementTree.Element) -> list[ElementTree.Element]:
    return list(marked(root, "field"))


def panel_of(root: ElementTree.Element) -> ElementTree.Element:
    return list(root)[-1]


def held(view: Json, player: int) -> list[list[str] | int]:
    names = ("hands", "packs", "piles") if view["stage"] == "draft" else ("hands",)
    return [view[name][player] for name in names]


def in_field(view: Json, player: int) -> Counter[str]:
    """The cards that a field shows, those held once for all copies."""
    field = view["fields"][player]
    couples = [couple["card"] for couple in field["couples"]]
    counts = Counter(name for couple in field["couples"] for name in couple["attached"])
    counts += Counter(card for card in field["free"].values() if card)
    counts += Counter(o["card"] for o in view["obstacles"] if o["couple"] in couples)
    for cards in held(view, player):
        counts += Counter(set(cards)) if isinstance(cards, list) else Counter()
    return counts


# What pictures show


@pytest.mark.slow  # quick: test_hidden_cards_are_named_nowhere
def test_fields_show_their_cards() -> None:
    """Couples, attached cards, obstacles, free slots, and the visible cards of hands."""
    full: list[View] = [(crowded(), 0), (draft_of_many(), None)]
    for view, seat, root in [*pictured(), *((*each, parsed(*each)) for each in full)]:
        assert root.tag == f"{SVG}svg"
        assert root.findtext(f"{SVG}title", "").startswith("Love Formula: ")
        fields = fields_of(root)
        assert [field.get("data-field") for field in fields] == [
            str(player) for player in range(view["num_players"])
        ]
        for player, field in enumerate(fields):
            assert named(field) == in_field(view, player)
            couples = [couple["card"] for couple in view["fields"][player]["couples"]]
            assert named(field, "couple") == Counter(couples)
            drawn = words(field)
            assert str(view["vp"][player]) in drawn
            assert (f"Player {player} (you)" in drawn) == (player == seat)


@pytest.mark.slow
def test_couples_show_what_they_need() -> None:
    """An attached preparation is a card, a missing one an empty place; complete ones differ."""
    kinds = Counter[bool]()
    for view, _, root in pictured():
        boxes = {box.get("data-couple"): box for box in marked(root, "couple")}
        for field in view["fields"]:
            for couple in field["couples"]:
                box, needs = boxes[couple["card"]], TABLE[couple["card"]].requirements
                preparations = [n for n in named(box).elements() if KINDS[n] == 0]
                assert preparations == couple["attached"]
                places = [r for r in box.iter(f"{SVG}rect") if r.get("stroke-dasharray")]
                assert len(places) == len(needs) - len(couple["attached"])
                missing = set(needs) - set(couple["attached"])
                assert missing <= set(words(box))
                complete = not missing
                assert ("★" in words(box)) == complete
                kinds[complete] += 1
    assert min(kinds[True], kinds[False]) > 5


def test_obstacles_show_turns_and_player() -> None:
    """Turns left, or that there is no end, and whose they are."""
    rows = [("Bullying", "Pen Pals", 1, 3), ("Cold Feet", "Pen Pals", 2, 0)]
    data = position([{"Pen Pals": []}, {}, {}], None, obstacles=rows)
    for seat in (None, 0, 1):
        view = GAME.to_dict(read(data), seat)
        (box,) = marked(parsed(view, seat), "couple")
        shown = [words(card)[1:] for card in marked(box, "card")]
        assert shown == [["Bullying", "3", "1"], ["Cold Feet", "∞", "2"]]
        text = draw_text(view, CARDS, seat)
        assert "Bullying of player 1 (3 turns left)" in " ".join(text.split())
        assert "Cold Feet of player 2 (no end)" in " ".join(text.split())


def test_free_slots_are_shown() -> None:
    """One of each subtype."""
    data = position([{"location": "Cafe"}, {}], None)
    root = parsed(GAME.to_dict(read(data)))
    assert {"event", "item"} <= set(words(fields_of(root)[0]))
    assert "location" not in words(fields_of(root)[0])
    assert {"event", "location", "item"} <= set(words(fields_of(root)[1]))
    assert "Free slots: - (event), Cafe (location), - (item)" in GAME.drawing.text(read(data))


def test_shields_are_shown_while_they_last() -> None:
    for last, turn, is_shown in ((6, 4, True), (4, 4, True), (3, 4, False), (21, 18, True)):
        data = position([{}, {"shield_until": last}], None, turn=turn)
        state = read(data)
        words_ = f"shielded to turn {min(last + 1, 20)}"
        assert (words_ in words(fields_of(parsed(GAME.to_dict(state)))[1])) == is_shown
        assert ("shielded" in GAME.drawing.text(state)) == is_shown


def test_copies_are_counted() -> None:
    data = position([{}, {}], None, hands={0: ["Cafe", "Cafe", "Beach"]})
    shown = [words(card)[1:] for card in marked(fields_of(parsed(data, 0))[0], "card")]
    assert shown == [["Beach"], ["Cafe", "×2"], [JOB]]
    assert "Hand: 4: Beach, Cafe x2, Part-time Job" in draw_text(data, CARDS, 0)


@pytest.mark.slow
def test_the_turn_is_shown_in_its_order() -> None:
    """Revealed cards with priorities, until they have found their places."""
    resolved = 0
    for view, seat, root in pictured():
        if view["stage"] != "resolve":
            continue
        cards = [view["selected"][player] for player in view["order"]]
        shown = [card for card in cards if card]
        panel = panel_of(root)
        drawn = list(marked(panel, "card"))[: len(shown)]
        assert [card.get("data-card") for card in drawn] == shown
        players = [player for player in view["order"] if view["selected"][player]]
        assert [words(card)[-2:] for card in drawn] == [
            [str(view["priorities"][player]), str(player)] for player in players
        ]
        assert words(panel).count("resolved") == cards.count(None)
        resolved += cards.count(None)
        text = draw_text(view, CARDS, seat)
        for place, player in enumerate(view["order"], 1):
            assert f"no. {place} with priority {view['priorities'][player]}" in text
    assert resolved > 10


@pytest.mark.slow
def test_piles_are_shown() -> None:
    """Sizes of deck and discard pile, its latest cards first, with how many there are of each."""
    for view, seat, root in [*pictured(), (crowded(), 0, parsed(crowded(), 0))]:
        panel = panel_of(root)
        deck = view["deck"] if isinstance(view["deck"], int) else len(view["deck"])
        (label,) = [word for word in words(panel) if word.startswith("Deck ")]
        assert label.startswith(f"Deck {deck} · Discard pile {len(view['discard'])}")
        more = [word for word in words(panel) if re.fullmatch(r"and \d+ more", word)]
        hidden = int(more[-1].split()[1]) if more else 0
        number = Counter(view["discard"][::-1])
        drawn = [str(card.get("data-card")) for card in marked(panel, "card")]
        ends = accumulate(number.values(), initial=0)
        kinds = next(n for n, end in enumerate(ends) if end == len(view["discard"]) - hidden)
        shown = list(number)[:kinds]
        assert drawn[len(drawn) - kinds :] == shown
        notes = [f"×{number[card]}" for card in shown if number[card] > 1]
        assert Counter(word for word in words(panel) if word[0] == "×") == Counter(notes)
        assert hidden == 0 or kinds >= 6
        text = " ".join(draw_text(view, CARDS, seat).split())
        assert f"Deck: {deck}" in text
        assert f"Discard pile: {len(view['discard'])}" in text


def test_reactions_are_shown_from_the_top() -> None:
    """The reaction that resolves first, its player and its event; cancelled ones struck out."""
    hands = {1: ["Guardian Friend", "Objection!"], 0: ["Objection!"]}
    game = both([{}, {"Pen Pals": []}, {}], {0: "Cold Feet"}, hands=hands).go()
    game.play("CARD Guardian Friend", "CARD Objection!")
    for seat in (None, 0, 2):
        view = GAME.to_dict(game.state, seat)
        assert [r["card"] for r in view["react"]["pending"]] == ["Guardian Friend", "Objection!"]
        text = draw_text(view, CARDS, seat)
        lines = text[text.index("Under way") :].splitlines()[1:4]
        assert [line.strip() for line in lines] == [
            "Objection! of player 0 answers Guardian Friend",
            "Guardian Friend of player 1 answers Cold Feet",
            "Cold Feet of player 0 → Pen Pals",
        ]
        drawn = words(panel_of(parsed(view, seat)))
        order = [drawn.index(w) for w in ("answers Guardian Friend", "answers Cold Feet")]
        assert [*order, drawn.index("→ Pen Pals")] == sorted([*order, drawn.index("→ Pen Pals")])
        view["react"]["pending"][0]["cancelled"] = True
        panel = panel_of(parsed(view, seat))
        struck = [c for c in marked(panel, "card") if c.findall(f"{SVG}path[@stroke]")]
        assert [card.get("data-card") for card in struck] == ["Guardian Friend"]
        assert "Guardian Friend of player 1 answers Cold Feet, cancelled" in draw_text(view, CARDS)


def test_cards_under_way_and_looked_at_are_shown() -> None:
    """Targets, a lost preparation, an obstacle's effect, and the cards to choose from."""
    top = ["Cafe", "Beach", "Shrine", "Library", "Bouquet"]
    game = both([{}, {}], {0: "Matchmaker's Intuition"}, top=top).go()
    drawn = list(marked(panel_of(parsed(GAME.to_dict(game.state, 0), 0)), "card"))
    assert [card.get("data-card") for card in drawn][-5:] == top
    assert "Looked at: Cafe, Beach, Shrine, Library, Bouquet" in GAME.drawing.text(game.state, 0)
    assert "Looked at" not in GAME.drawing.text(game.state, 1)
    fields: list[Json] = [{}, {"item": "Bouquet"}]
    game = both(fields, {0: "Sabotage"}, hands={1: ["Spare Ticket"]}).go()
    text = GAME.drawing.text(game.state, 1)
    assert "Bouquet of player 1 was discarded from the field" in text
    rows = [("Bullying", "Pen Pals", 0, 3)]
    game = both([{}, {"Pen Pals": ["Love Letter"]}], {0: JOB}, obstacles=rows, hands={1: ["Cafe"]})
    text = GAME.drawing.text(game.until("CHOICE").state, 0)
    assert "Bullying of player 0 → Pen Pals" in text


def test_a_hand_to_discard_from_is_shown_to_who_chooses() -> None:
    """LOOK_HAND: to its player, not to the others."""
    hands = {1: ["Cafe", "Sabotage"]}
    play = {0: "Read the Diary"}
    game = both([{}, {}, {}], play, hands=hands).go().play("PLAYER 1")
    assert game.asks == (0, "HAND_DISCARD")
    for seat, sees in ((0, True), (2, False)):
        view = GAME.to_dict(game.state, seat)
        assert ("Sabotage" in named(panel_of(parsed(view, seat)))) == sees
        assert ("Sabotage" in draw_text(view, CARDS, seat)) == sees


# What they don't show


@pytest.mark.slow
def test_others_cards_are_backs() -> None:
    """As many as they hold, and the same number in the text."""
    covered = 0
    for view, seat, root in pictured():
        for player, field in enumerate(fields_of(root)):
            counts = [cards for cards in held(view, player) if isinstance(cards, int)]
            backs = [r for r in field.iter(f"{SVG}rect") if r.get("height") == "15"]
            assert len(backs) == sum(counts)
            covered += len(backs)
            if seat == player or seat is None:
                assert not backs
    assert covered > 1000


@pytest.mark.slow
def test_hidden_cards_are_named_nowhere() -> None:
    """Names that a seat's view has in no open place are not in its text or picture."""
    hidden = 0
    for state in states():
        data = GAME.to_dict(state)
        for seat in range(data["num_players"]):
            view = GAME.to_dict(state, seat)
            memory = {"draft": 0, "passed": 0, "taken": 0, "known": 0}
            if view["decision"] == "HAND_DISCARD":
                memory.pop("known")
            open_ = json.dumps(view | memory)
            needed = {name for c in TABLE.of("couple") for name in TABLE[c].requirements}
            others = [p for p in range(data["num_players"]) if p != seat]
            cards = {
                c for p in others for name in ("hands", "piles", "packs") for c in data[name][p]
            }
            cards |= {*data["deck"], *(data["selected"][p] or JOB for p in others)}
            secret = {c for c in cards if c not in open_ and c not in needed}
            text = " ".join(GAME.drawing.text(state, seat).split())
            svg = GAME.draw_svg(state, seat).replace("&amp;", "&")
            for name in secret:
                assert name not in text
                assert name not in svg
            hidden += len(secret)
    assert hidden > 1000


def test_a_face_down_card_is_shown_to_its_player() -> None:
    """R8, T1: and to the referee."""
    state = read(position([{}, {}], None, hands={0: ["Sabotage", "Cafe"]}))
    play_text(state, "CARD Sabotage")
    for seat, sees in ((None, True), (0, True), (1, False)):
        view = GAME.to_dict(state, seat)
        panel = panel_of(parsed(view, seat))
        assert ("Sabotage" in named(panel)) == sees
        assert ("Sabotage" in draw_text(view, CARDS, seat)) == sees


# How pictures are laid out


@dataclass(frozen=True)
class Area:
    """A rectangle of the picture."""

    left: float
    top: float
    right: float
    bottom: float

    def holds(self, other: "Area") -> bool:
        """Whether another one is within it, but for rounding and kerning."""
        return (
            self.left - 0.6 <= other.left
            and self.top - 0.6 <= other.top
            and other.right <= self.right + 0.6
            and other.bottom <= self.bottom + 0.6
        )

    def is_apart_from(self, other: "Area") -> bool:
        """Whether they share no point inside."""
        return (
            self.right <= other.left
            or other.right <= self.left
            or self.bottom <= other.top
            or other.bottom <= self.top
        )


Placed = tuple[ElementTree.Element, ElementTree.Element, Area]


def areas(
    element: ElementTree.Element, x: float = 0, y: float = 0, scale: float = 1
) -> Iterator[Placed]:
    """Rectangles and texts with the element that they are in, and where they are."""
    moves = element.get("transform", "")
    if moved := re.match(r"translate\((\S+) (\S+)\)", moves):
        x, y = x + scale * float(moved[1]), y + scale * float(moved[2])
    if scaled := re.search(r"scale\((\S+)\)", moves):
        scale *= float(scaled[1])
    for child in element:
        if child.tag in (f"{SVG}rect", f"{SVG}text"):
            at = {name: float(child.get(name, 0)) for name in ("x", "y", "width", "height")}
            left, top, width, height = at.values()
            if child.tag == f"{SVG}text":
                size = float(child.get("font-size", 0))
                width = width_of(child.text or "", size, child.get("font-weight") == "bold")
                left -= {"middle": 0.5, "end": 1}.get(child.get("text-anchor", ""), 0) * width
                top, height = top - 0.76 * size, 0.76 * size
            left, top = x + scale * left, y + scale * top
            yield element, child, Area(left, top, left + scale * width, top + scale * height)
        yield from areas(child, x, y, scale)


@cache
def pictures() -> list[ElementTree.Element]:
    """Pictures with little and with very much to show, and with long names."""
    names, table = with_long_names()
    full = [crowded(), draft_of_many()]
    roots = [root for _, _, root in pictured()[::10]]
    roots += [parsed(view, seat) for view in full for seat in (None, 0)]
    return roots + [
        parsed(renamed(view, names), seat, table)
        for view, seat in [*views()[::38], *((view, 0) for view in full)]
    ]


@pytest.mark.slow  # quick: usual positions are legible
def test_all_is_within_the_frame() -> None:
    for root in pictures():
        frame = Area(0, 0, *map(float, str(root.get("viewBox")).split()[2:]))
        for field in fields_of(root):
            (_, _, box), *inner = areas(field)
            assert frame.holds(box)
            for _, child, area in inner:
                assert box.holds(area), ElementTree.tostring(child)
        panel = Area(914, 0, 1184, 900)
        for _, child, area in areas(panel_of(root)):
            assert panel.holds(area), ElementTree.tostring(child)


@pytest.mark.slow  # as above
def test_words_stay_in_their_boxes() -> None:
    """Names, turns and seats in the strip of a card or a place; names of couples in their box."""
    for root in pictures():
        boxes: dict[ElementTree.Element, Area] = {}
        texts: dict[ElementTree.Element, list[Area]] = {}
        for parent, child, area in areas(root):
            if child.tag == f"{SVG}rect":
                boxes.setdefault(parent, area)
            elif parent in boxes and (parent.get("data-card") or parent.get("data-couple")):
                assert boxes[parent].holds(area), child.text
                texts.setdefault(parent, []).append(area)
        assert texts
        for group in texts.values():
            assert all(one.is_apart_from(other) for one, other in combinations(group, 2))


@pytest.mark.slow  # as above
def test_cards_and_places_are_drawn_apart() -> None:
    for root in pictures():
        strips = [
            area
            for _, child, area in areas(root)
            if child.get("height") == "20" and child.tag == f"{SVG}rect"
        ]
        assert all(one.is_apart_from(other) for one, other in combinations(strips, 2))


@pytest.mark.slow
def test_usual_positions_are_legible() -> None:
    """Letters of names are at least 7.5 pixels high in a picture of 1,000 pixels' width."""
    smallest = []
    for _, _, root in pictured():
        scales = [
            float(match[1])
            for element in root.iter(f"{SVG}g")
            if (match := re.search(r"scale\((\S+)\)", element.get("transform", "")))
        ]
        smallest.append(min(scales))
    assert min(smallest) >= 0.6
    assert np.mean(smallest) >= 0.9


# Both


TEXT = """\
Love Formula, first half, turn 5 of 20, resolve

> Player 0 (you): 5 points, plays no. 1 with priority 2, card Sabotage
    Hand: 4: Beach x2, Part-time Job, Objection!
    Swim Team Duo: needs Christmas Eve, Beach; Nasty Rumor of player 1 (1 turn left); Bullying of
        player 1 (2 turns left)
    Pen Pals: Fireworks Show, Love Letter; complete; Cold Feet of player 1 (no end)
    Free slots: - (event), Cafe (location), - (item)

  Player 1: 1 point, plays no. 2 with priority 1, card Part-time Job, shielded to turn 7
    Hand: 2
    Free slots: - (event), - (location), Bouquet (item)

  Deck: {deck}
  Discard pile: 3: Library x2, Pop Quiz

Player 0 to act, may move or discard in the field
"""


def test_text_of_a_position() -> None:
    own = {"Pen Pals": ["Love Letter", "Fireworks Show"], "Swim Team Duo": [], "location": "Cafe"}
    data = position(
        [own, {"item": "Bouquet", "shield_until": 6}],
        {0: "Sabotage"},
        hands={0: ["Objection!", "Beach", "Beach"], 1: ["Shrine", "Shrine"]},
        obstacles=[
            ("Cold Feet", "Pen Pals", 1, 0),
            ("Nasty Rumor", "Swim Team Duo", 1, 1),
            ("Bullying", "Swim Team Duo", 1, 2),
        ],
        discard=["Library", "Pop Quiz", "Library"],
    )
    state = read(data)
    assert GAME.drawing.text(state, 0) == TEXT.format(deck=len(data["deck"]))


def test_text_is_narrow() -> None:
    for view, seat in views():
        assert max(map(len, draw_text(view, CARDS, seat).splitlines())) <= 100


def test_both_tell_who_is_to_act_and_what_he_is_asked() -> None:
    """Every kind of decision met has words of its own; a seat learns nothing of others'."""
    asked: dict[str, set[str]] = {}
    for view, seat, root in pictured():
        text, drawn = draw_text(view, CARDS, seat), words(root)
        if view["stage"] == "over":
            continue
        if view["seat"] is None:
            assert "Another player to act" in drawn
            assert text.endswith("\nAnother player to act\n")
            assert not re.search(r"^>", text, re.MULTILINE)
            continue
        sentence = f"Player {view['seat']} to act"
        assert sentence in drawn
        assert re.search(rf"^> Player {view['seat']}\b", text, re.MULTILINE)
        remark = text.splitlines()[-1].removeprefix(f"{sentence}, ")
        assert remark in drawn
        asked.setdefault(view["decision"], set()).add(remark.split()[0] + remark[-9:])
    assert len(asked) >= 12
    assert not any(one & other for one, other in combinations(asked.values(), 2))


@pytest.mark.parametrize(
    ("winners", "said"),
    [([1], "Player 1 wins"), ([0, 2], "Players 0 and 2 win"), ([0, 1, 2], "A draw")],
)
def test_both_tell_the_result(winners: list[int], said: str) -> None:
    state = play_on(start(Setup(3), 5), np.random.default_rng(5))
    view = GAME.to_dict(state) | {"winners": winners, "vp": [12, -3, 21]}
    text, drawn = draw_text(view, CARDS), words(parsed(view))
    for words_ in (said, "end of the game", "12 : -3 : 21"):
        assert words_ in text
        assert words_ in drawn


@pytest.mark.slow
def test_pictures_of_different_positions_differ() -> None:
    """They can be rasterised, and nothing that matters is lost in it."""
    hands = {0: ["Cafe"], 1: ["Beach"]}
    fields: list[Json] = [{"Pen Pals": ["Love Letter"]}, {"item": "Bouquet"}]
    rows = [("Bullying", "Pen Pals", 1, 3)]
    view: Json = position(fields, {0: "Sabotage"}, hands=hands, obstacles=rows)
    data = [
        view,
        view | {"seat": 1},
        view | {"vp": [1, 9]},
        view | {"obstacles": [view["obstacles"][0] | {"turns_left": 2}]},
        view | {"obstacles": [view["obstacles"][0] | {"by": 0}]},
        view | {"hands": [["Beach"], ["Cafe"]]},
        view | {"hands": [["Beach"], 1]},
        view | {"priorities": [2, 1]},
        view | {"discard": ["Cafe"]},
        view | {"turn": 5},
    ]
    images = {rasterise(draw_svg(each, CARDS), 600).tobytes() for each in data}
    assert len(images) == len(data)
