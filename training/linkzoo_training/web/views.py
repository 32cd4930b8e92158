"""JSON views for the page, limited to the viewer's information."""

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from linkzoo import Game, get_game
from linkzoo.core.arguments import integer
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Record
from linkzoo.text.prompts import changed_options
from linkzoo_training.checkpoints.checkpoint import load_card
from linkzoo_training.evaluation.result import settings_of
from linkzoo_training.resources import find_checkpoint, shipped_checkpoints
from linkzoo_training.web.viewers import Viewer

Json = dict[str, Any]
TAGS = re.compile(r"(?<=>)")  # splits an SVG behind its tags
_WORLDS = 4  # in which the outcome of a move is drawn


def cards(games: Collection[str]) -> Json:
    """Returns the strength results of the shipped checkpoints that play these games."""
    found = [_card(name, card) for name, card in shipped_cards() if card["game"] in games]
    return {"cards": found}


def shipped_cards() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields the names and cards of the shipped checkpoints."""
    for name in shipped_checkpoints():
        yield name, load_card(find_checkpoint(name))


def _card(name: str, card: Mapping[str, Any]) -> Json:
    trained = card["trained"]
    return {
        "name": name,
        "title": get_game(card["game"]).title,
        "algorithm": trained["algorithm"],
        "steps": trained["steps"],
        "minutes": round(trained["seconds"] / 60),
        "machine": trained["machine"],
        "matches": [_match(match) for match in card.get("strength", [])],
        "blunders": [
            {"agent": entry["agent"], "positions": entry["positions"], "share": entry["share"]}
            for entry in card.get("blunder_rate", [])
        ],
    }


def _match(match: Mapping[str, Any]) -> Json:
    """Returns a match; it has results by side only if the sides are roles."""
    agent, opponent = match["agents"]
    roles = [(side["label"].partition(" ("), side["win_share"]) for side in match["sides"]]
    return {
        "agent": agent,
        "opponent": opponent,
        "players": match["num_players"],
        "options": ", ".join(settings_of(get_game(match["game"]), match["options"])),
        "games": match["games"],
        "share": match["win_share"],
        "roles": [{"role": role, "share": share} for (role, label, _), share in roles if label],
    }


def table_view(viewer: Viewer, *, tall: bool = False) -> Json:
    """Returns the view of a game in progress, `tall` for a narrow screen."""
    table, sees = viewer.table, viewer.sees
    common = {
        "game": table.game.name,
        "title": table.game.title,
        "variant": changed_options(table.game, table.record.options),
        "seats": list(map(str, table.seats)),
        "names": table.names,
        "roles": list(table.game.roles(table.record.options)),
        "own": viewer.own,
        "waiting": viewer.waiting,
        "watching": not table.humans,
        "version": table.version,
        "error": table.error,
    }
    if viewer.waiting is not None:  # cover screen: picture and moves are not sent
        return {**common, "looking": None}
    return {
        **common,
        "looking": viewer.seat,
        "acting": None if table.over else int(table.state.seat),
        "over": table.over,
        "winners": table.winners,
        "resigned": table.resigned,
        "thinking": table.thinking,
        "preparing": table.preparing,
        "busy": table.busy,
        "svg": picture(table.game, table.state, sees, tall=tall),
        "text": table.game.drawing.text(table.state, sees),
        **words(table.game, table.state, sees, viewer.legal()),
        "prompt": named(table.game.guide.prompt(table.state, sees), table.names),
        "can_take_back": viewer.last_own() is not None,
        "can_open": not table.secret,
        "log": [
            {"seat": seat, "words": named(told, table.names), "touched": touched}
            for _, seat, told, touched in table.history.seen(sees)
        ],
    }


def named(words: str, names: list[str]) -> str:
    """Returns words in which people with a name have it, instead of such as `Player 0`."""
    known = {str(seat): name for seat, name in enumerate(names) if name}
    return re.sub(r"\bplayer (\d+)\b", lambda p: known.get(p[1], p[0]), words, flags=re.IGNORECASE)


def summary(viewer: Viewer) -> Json:
    """Returns what a list of games says of one: who plays, how far it is, and whose turn."""
    table = viewer.table
    return {
        "title": table.game.title,
        "seats": list(map(str, table.seats)),
        "names": table.names,
        "own": viewer.own,
        "moves": len(table.record.actions),
        "over": table.over,
        "winners": table.winners,
        "yours": bool(viewer.legal()),
    }


def words(game: Game, state: Record, seat: int | None, legal: list[int]) -> Json:
    """Returns what the game says of a position to a viewer, and the legal moves."""
    guide, found = game.guide, moves(game, state, legal)
    parts = {part for move in found for part in move["parts"]}
    return {
        "prompt": guide.prompt(state, seat),
        "scores": [row._asdict() for row in guide.score_rows(state, seat)],
        "moves": found,
        "parts": {part: guide.part_words(state, part) for part in sorted(parts)},
    }


def entry(viewer: Viewer, number: int, *, tall: bool = False) -> Json:
    """Returns the picture of the position after a move of the viewer's log."""
    viewer.check_looking()
    events = viewer.table.history.seen(viewer.sees)
    ply = events[integer("entry", number, 0, len(events) - 1)].ply
    state = next(islice(viewer.table.record.replay(), ply + 1, None))
    return {"svg": picture(viewer.table.game, state, viewer.sees, tall=tall)}


def preview(viewer: Viewer, move: str, *, tall: bool = False) -> Json:
    """Returns the picture after a move, without what differs in worlds that fit the viewer's."""
    viewer.check_turn()
    game, state, sees = viewer.table.game, viewer.table.state, viewer.sees
    action, pictures, touched = viewer.table.action(move), [], []
    mask = np.zeros(game.num_actions, np.int8)
    outcome = np.zeros((2, int(state.num_players)), np.float32)
    for seed in range(_WORLDS):
        worlds = np.array([state])
        game.determinize(worlds[0], int(state.seat), np.uint64(seed))
        touched.append(game.guide.touched(worlds[0], action, sees))
        kernels(game).play_one(worlds, action, mask, *outcome)
        pictures.append(picture(game, worlds[0], sees, tall=tall))
    return {
        "svg": _common(pictures),
        "touched": tuple(item for item in touched[0] if all(item in other for other in touched)),
        "certain": len(set(pictures)) == 1,
    }


def _common(pictures: list[str]) -> str:
    """Returns the first SVG without the shapes and words that aren't in all the others."""
    first, *others = [list(_placed(svg)) for svg in pictures]
    shared = set(first).intersection(*others)
    blank = re.compile(r"^[^<]+|<[^>]*/>$")  # words before an end tag, or a shape
    return "".join(key[-1] if key in shared else blank.sub("", key[-1]) for key in first)


def _placed(svg: str) -> Iterator[tuple[str, ...]]:
    """Yields the tags of an SVG, with the words before them, each after the tags around it."""
    around: list[str] = []
    for piece in TAGS.split(svg):
        yield (*around, piece)
        if "</" in piece:
            around.pop()
        elif not piece.endswith("/>"):
            around.append(piece if around else "")  # pictures may differ in height


def picture(game: Game, state: Record, seat: int | None, *, tall: bool = False) -> str:
    """Returns the SVG of a view without its own size, which the page sets.

    A `tall` one is for a narrow screen.
    """
    svg = (game.draw_tall if tall else game.draw_svg)(state, seat)
    return re.sub(r'^(<svg[^>]*?) width="[\d.]+" height="[\d.]+"', r"\1", svg)


def moves(game: Game, state: Record, legal: list[int]) -> list[Json]:
    """Returns legal actions with their texts, spoken names, and the elements to click."""
    found, notation = [], game.notation
    for action in legal:
        text = notation.action_to_text(state, action)
        parts = notation.action_parts(state, action) if notation.action_parts else (text,)
        spoken = game.guide.action_words(state, action)
        found.append({"text": text, "words": spoken, "parts": list(parts)})
    return found
