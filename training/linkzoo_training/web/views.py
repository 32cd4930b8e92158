"""JSON views for the page, limited to the viewer's information."""

import re
from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin

from linkzoo import Game, GameRecord, get_game
from linkzoo.core.state import Record
from linkzoo_training.checkpoints.checkpoint import load_card
from linkzoo_training.evaluation.result import settings_of
from linkzoo_training.resources import find_checkpoint, shipped_checkpoints
from linkzoo_training.web.players import HUMAN
from linkzoo_training.web.tables import Table

Json = dict[str, Any]


def cards(games: Collection[str]) -> Json:
    """Returns the strength results of the shipped checkpoints that play these games."""
    found = [(name, load_card(find_checkpoint(name))) for name in shipped_checkpoints()]
    return {"cards": [_card(name, card) for name, card in found if card["game"] in games]}


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


def table_view(table: Table) -> Json:
    """Returns the view of a game in progress for its viewer."""
    waiting = table.waiting
    common = {
        "game": table.game.name,
        "title": table.game.title,
        "seats": list(map(str, table.seats)),
        "roles": list(table.game.roles(table.record.options)),
        "waiting": waiting,
        "watching": not table.humans,
        "error": table.error,
    }
    if waiting is not None:  # cover screen: picture and moves are not sent
        return {**common, "looking": None}
    seat = table.looking if table.secret else None
    return {
        **common,
        "looking": table.looking,
        "over": table.over,
        "winners": winners(table.state),
        "thinking": table.thinking,
        "svg": picture(table.game, table.state, seat),
        "text": table.game.drawing.text(table.state, seat),
        "moves": moves(table.game, table.state, table.legal()),
        "can_take_back": bool(table.humans) and table.last_own() is not None,
        "can_open": not table.secret,
        "log": [] if table.secret else [{"seat": s, "text": text} for s, text in table.log],
    }


def picture(game: Game, state: Record, seat: int | None) -> str:
    """Returns the SVG of a view without its own size, which the page sets."""
    svg = game.draw_svg(state, seat)
    return re.sub(r'^(<svg[^>]*?) width="[\d.]+" height="[\d.]+"', r"\1", svg)


def moves(game: Game, state: Record, legal: list[int]) -> list[Json]:
    """Returns legal actions with their texts and the elements to click."""
    found, notation = [], game.notation
    for action in legal:
        text = notation.action_to_text(state, action)
        parts = notation.action_parts(state, action) if notation.action_parts else (text,)
        found.append({"text": text, "parts": list(parts)})
    return found


def log(record: GameRecord) -> list[Json]:
    """Returns the moves of a game with their seats."""
    game = get_game(record.game, record.options)
    return [
        {"seat": int(state.seat), "text": game.notation.action_to_text(state, action)}
        for state, action in zip(record.replay(), record.actions, strict=False)
    ]


def winners(state: Record) -> list[int]:
    """Returns the seats that have won; none before the end."""
    return [seat for seat in range(int(state.num_players)) if int(state.winners) >> seat & 1]


def catalogue(names: list[str], custom: list[str]) -> Json:
    """Returns the available games with their options, and the agents."""
    games = [_game(get_game(name), name) for name in names]
    agents = [HUMAN, "random", "greedy", "uct-100", "uct-1000", *custom]
    return {"games": games, "agents": agents}


def _game(game: Game, name: str) -> Json:
    own = [own for own in shipped_checkpoints() if re.fullmatch(rf"{game.name}(_[a-z]+)?", own)]
    solved, fixed = [] if game.solver is None else ["exact"], game.fixed.values
    return {
        "name": name,
        "title": game.title,
        "players": list(range(game.min_players, game.max_players + 1)),
        "hidden": game.observation.privileged_spec is not None,
        "roles": list(game.facts.seat_names),
        "options": [_option(game, f) for f in fields(game.options) if f.name not in fixed],
        "agents": [*solved, *own, *(f"{found}:64" for found in own)],
    }


def _option(game: Game, field: Any) -> Json:
    default = getattr(game.options(), field.name)
    choices = list(get_args(field.type)) if get_origin(field.type) is Literal else []
    kind = "choice" if choices else "flag" if isinstance(default, bool) else "number"
    return {"name": field.name, "kind": kind, "choices": choices, "default": default}
