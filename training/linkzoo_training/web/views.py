"""JSON views for the page, limited to the viewer's information."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from linkzoo import Game, get_game
from linkzoo.core.arguments import integer
from linkzoo.core.history import seat_to_act
from linkzoo.core.state import Record
from linkzoo.text.prompts import changed_options
from linkzoo_training.checkpoints.checkpoint import shipped_cards
from linkzoo_training.evaluation.openings import describe_openings
from linkzoo_training.evaluation.result import settings_of
from linkzoo_training.web.certainty import certain_after

if TYPE_CHECKING:  # replays are shown without the packages of the server
    from linkzoo_training.web.game_session import GameSession
    from linkzoo_training.web.game_store import StoredGame
    from linkzoo_training.web.viewers import Viewer

Json = dict[str, Any]
_HIDDEN_REASON = "its message may hold hidden information"


def cards(games: Collection[str]) -> Json:
    """Returns the strength results of the shipped checkpoints that play these games."""
    return {"cards": [_card(name, card) for name, card in shipped_cards() if card["game"] in games]}


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
    """Returns a match, with results by side if the sides are roles."""
    agent, opponent = match["agents"]
    roles = []
    for side in match["sides"]:
        role, parenthesis, _ = side["label"].partition(" (")
        if parenthesis:  # `More (seat 0)`; without a role it is `seat 0`
            roles.append({"role": role, "share": side["win_share"]})
    return {
        "agent": agent,
        "opponent": opponent,
        "players": match["num_players"],
        "options": ", ".join(settings_of(get_game(match["game"]), match["options"])),
        "games": match["games"],
        "openings": describe_openings(match["openings"]),
        "share": match["win_share"],
        "roles": roles,
    }


@dataclass(frozen=True)
class Scene:
    """A view of a game in progress that isn't drawn yet; drawing it needs no lock.

    Attributes:
        facts: The parts of the view that need no drawing.
        game: The game.
        state: A copy of the position; None while the screen is covered.
        sees: The seat whose knowledge is shown; None for the referee's.
        legal: The legal actions of the viewer.
        change: The number of changes of the session.
        clock: The clocks of people; None without them, and while the screen is covered.
    """

    facts: Json
    game: Game
    state: Record | None
    sees: int | None
    legal: list[int]
    change: int
    clock: Json | None = None

    def drawn(self, *, tall: bool = False) -> Json:
        """Returns the view, `tall` for a narrow screen."""
        if self.state is None:  # cover screen: picture and moves are not sent
            return self.facts
        described = words(self.game, self.state, self.sees, self.legal)
        described["prompt"] = named(described["prompt"], self.facts["names"])
        return {
            **self.facts,
            "svg": picture(self.game, self.state, self.sees, tall=tall),
            "text": self.game.drawing.text(self.state, self.sees),
            **described,
        }


def scene_of(viewer: "Viewer") -> Scene:
    """Returns the view of a game in progress; call it with the session's lock."""
    session = viewer.session
    if viewer.waiting is not None:
        facts = {**_common_facts(viewer), "looking": None}
        return Scene(facts, session.game, None, None, [], session.version)
    facts = {**_common_facts(viewer), **_open_facts(viewer)}
    state = session.state.copy()
    clock: Json | None = None
    if session.clock is not None:
        clock = session.clock.to_dict()
    return Scene(facts, session.game, state, viewer.sees, viewer.legal(), session.version, clock)


def _common_facts(viewer: "Viewer") -> Json:
    """Returns the facts that a covered screen has, too."""
    session = viewer.session
    error = session.error
    if error and session.secret:
        error = _HIDDEN_REASON
    return {
        "game": session.game.name,
        "title": session.game.title,
        "variant": changed_options(session.game, session.record.options),
        "notes": session.notes,
        "judges": session.judges,
        "reports": session.reports,
        "seats": list(map(str, session.seats)),
        "names": session.names,
        "roles": list(session.game.roles(session.record.options)),
        "own_seat": viewer.own_seat,
        "waiting": viewer.waiting,
        "watching": not session.humans,
        "spectator": viewer.spectator,
        "error": error,
    }


def _open_facts(viewer: "Viewer") -> Json:
    """Returns the facts that a covered screen hides."""
    session = viewer.session
    sees = viewer.sees
    wish = session.wish
    acting: int | None = None
    if not session.over:
        acting = seat_to_act(session.game, session.state, sees)
    return {
        "looking": viewer.seat,
        "acting": acting,
        "over": session.over,
        "winners": session.winners,
        "resigned": session.resigned,
        "timed_out": session.timed_out,
        **_agent_status(session, acting),
        "can_take_back": viewer.last_own() is not None,
        "wish": None if wish is None else {"seat": wish.seat, "agreed": sorted(wish.agreed)},
        "has_moved": session.history.last_of([viewer.seat]) is not None,
        "can_open": not session.secret,
        "log": [
            {
                "seat": event.seat,
                "words": named(event.words, session.names),
                "touched": event.touched,
            }
            for event in session.history.seen(sees)
        ],
    }


def _agent_status(session: "GameSession", acting: int | None) -> Json:
    """Returns the state of the agent to act; without it where the seat to act is hidden."""
    if acting is None and not session.over:
        return {"thinking": not session.error, "preparing": False, "busy": ""}
    return {
        "thinking": session.thinking,
        "preparing": session.preparing,
        "busy": session.busy,
    }


def named(words: str, names: list[str]) -> str:
    """Replaces `Player N` by names."""
    by_seat = {str(seat): name for seat, name in enumerate(names) if name}

    def name_of(player: re.Match[str]) -> str:
        return by_seat.get(player[1], player[0])

    return re.sub(r"\bplayer (\d+)\b", name_of, words, flags=re.IGNORECASE)


def summary(viewer: "Viewer") -> Json:
    """Returns a game's entry in a list: its players, its length and whether the viewer moves."""
    session = viewer.session
    moves = session.history.seen(viewer.sees)  # the number of hidden moves can be secret
    return {
        "title": session.game.title,
        "seats": list(map(str, session.seats)),
        "names": session.names,
        "own_seat": viewer.own_seat,
        "moves": len(moves),
        "unused": not (moves or session.rematches or viewer.spectator),
        "over": session.over,
        "winners": session.winners,
        "yours": bool(viewer.legal()),
    }


def stored_summary(stored: "StoredGame", number: int) -> Json:
    """Returns the same of a game on disk, for a session's link; without a number of moves."""
    return {
        "title": get_game(stored.game).title,
        "seats": stored.players,
        "names": stored.names,
        "own_seat": stored.own_seat(number),
        "moves": None,
        "unused": False,
        "over": stored.over,
        "winners": stored.winners,
        "yours": False,
    }


def beside_rules(name: str, file_name: str) -> Json | None:
    """Returns the data of a JSON file beside a game's RULES.md; None without such a file."""
    rules = get_game(name).guide.rulebook
    if rules is None:
        return None
    file = rules.with_name(file_name)
    if not file.is_file():
        return None
    data: Json = json.loads(file.read_text(encoding="utf-8"))
    return data


def words(game: Game, state: Record, seat: int | None, legal: list[int]) -> Json:
    """Returns the game's texts about a position for a viewer, and the legal moves."""
    guide = game.guide
    legal_moves = moves(game, state, legal)
    parts = {part for move in legal_moves for part in move["parts"]}
    return {
        "prompt": guide.prompt(state, seat),
        "scores": [row._asdict() for row in guide.score_rows(state, seat)],
        "moves": legal_moves,
        "parts": {part: guide.part_words(state, part) for part in sorted(parts)},
    }


def entry(viewer: "Viewer", number: int, *, tall: bool = False) -> Json:
    """Returns the picture of the position after a move of the viewer's log."""
    viewer.check_looking()
    events = viewer.session.history.seen(viewer.sees)
    ply = events[integer("entry", number, 0, len(events) - 1)].ply
    state = next(islice(viewer.session.record.replay(), ply + 1, None))
    return {"svg": picture(viewer.session.game, state, viewer.sees, tall=tall)}


def preview(viewer: "Viewer", move: str, *, tall: bool = False) -> Json:
    """Returns the picture after the certain part of a move; "" if nothing is certain."""
    viewer.check_turn()
    session = viewer.session
    game = session.game
    state = session.state
    sees = viewer.sees
    after = certain_after(game, state, session.action(move))
    svg = ""
    touched: tuple[str, ...] = ()
    if after is not None and after.tobytes() != state.tobytes():
        svg = picture(game, after, sees, tall=tall)
        touched = game.guide.changed(state, after, sees)
    return {
        "svg": svg,
        "touched": touched,
        "certain": not (game.hides or game.facts.chance),
    }


def picture(game: Game, state: Record, seat: int | None, *, tall: bool = False) -> str:
    """Returns the SVG of a view without a size, which the page sets; `tall` for narrow screens."""
    draw = game.draw_tall if tall else game.draw_page
    svg = draw(state, seat)
    return re.sub(r'^(<svg[^>]*?) width="[\d.]+" height="[\d.]+"', r"\1", svg)


def moves(game: Game, state: Record, legal: list[int]) -> list[Json]:
    """Returns legal actions with their texts, spoken names, and the elements to click."""
    notation = game.notation
    legal_moves = []
    for action in legal:
        text = notation.action_to_text(state, action)
        parts = [text]
        if notation.action_parts is not None:
            parts = list(notation.action_parts(state, action))
        spoken = game.guide.action_words(state, action)
        legal_moves.append({"text": text, "words": spoken, "parts": parts})
    return legal_moves
