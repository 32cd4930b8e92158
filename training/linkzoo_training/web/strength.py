"""Strength results from the cards of the shipped checkpoints."""

from collections.abc import Collection, Mapping
from typing import Any

from linkzoo import get_game
from linkzoo_training.checkpoints.checkpoint import load_card
from linkzoo_training.evaluation.result import settings_of
from linkzoo_training.resources import find_checkpoint, shipped_checkpoints

Json = dict[str, Any]


def cards(games: Collection[str]) -> Json:
    """Returns the cards of the checkpoints that play these games, by name."""
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
