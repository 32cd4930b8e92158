"""Links that watch a game: public information only, and no action."""

import re
from typing import Any

import numpy as np
import pytest

from linkzoo import Game, get_game
from linkzoo.core.game import SPECTATOR
from linkzoo.testing.play import clone, positions
from tests.driving import first_quick
from tests.web.server import Client, serving

HIDING = ("link_o", "love_formula")


def seen(game: Game, state: np.record) -> list[Any]:
    """Everything that a spectator sees of a position."""
    return [
        game.to_dict(state, SPECTATOR),
        game.draw_page(state, SPECTATOR),
        game.draw_tall(state, SPECTATOR),
        game.draw_svg(state, SPECTATOR),
        game.drawing.text(state, SPECTATOR),
        game.guide.prompt(state, SPECTATOR),
        game.guide.score_rows(state, SPECTATOR),
    ]


def sentences(words: str) -> set[str]:
    return set(re.split(r"(?<=[.!]) ", words)) - {""}


@pytest.mark.slow
@pytest.mark.parametrize("players", first_quick([3, 2], slow=0))
@pytest.mark.parametrize("name", HIDING)
def test_a_spectator_sees_what_all_seats_know(name: str, players: int) -> None:
    """Views are equal in the worlds of every seat; each seat reads each sentence of the log."""
    game = get_game(name)
    rng = np.random.default_rng(players)
    played = positions(game, players, {}, 3)[:-1]
    different = 0
    for state in played[:: max(len(played) // 40, 1)]:
        views = seen(game, state)
        for seat in range(players):
            world = clone(state)
            game.determinize(world, seat, np.uint64(rng.integers(1, 99)))
            assert seen(game, world) == views
            different += world.tobytes() != state.tobytes()
        for action in rng.choice(game.guide.legal(state), 2):
            words = sentences(game.guide.event(state, int(action), SPECTATOR))
            for seat in range(players):
                assert words <= sentences(game.guide.event(state, int(action), seat))
    assert different > 20


def watching(client: Client, name: str) -> str:
    status, answer = client.ask(f"sessions/{name}/spectators", {})
    assert status == 200, answer
    return str(answer["id"])


@pytest.mark.slow
@pytest.mark.parametrize("name", HIDING)
def test_a_link_to_watch_holds_no_hand(client: Client, name: str) -> None:
    """Through a game: views, pictures of the log and the stream tell as little as `SPECTATOR`."""
    game = client.new_game(name, ["human", "human"], apart=True)
    links = client.server.store.links(game)
    link = watching(client, game)
    assert link == watching(client, links[1])
    session = client.server.viewer(game).session
    for ply in range(24):
        view = client.ask(f"sessions/{link}")[1]
        with session.lock:
            state = session.state.copy()
            rng = np.random.default_rng(ply)
            text = session.game.notation.action_to_text(state, int(rng.choice(session.legal())))
            seat = int(state.seat)
        assert view["text"] == session.game.drawing.text(state, SPECTATOR)
        assert (view["own_seat"], view["looking"], view["moves"]) == (None, None, [])
        assert view["spectator"]
        events = [event["words"] for event in view["log"]]
        assert events == [event.words for event in session.history.seen(SPECTATOR)]
        if events:
            status, picture = client.ask(f"sessions/{link}/log/{len(events) - 1}")
            assert status == 200
            assert picture["svg"]
        place = session.humans.index(seat)
        assert client.ask(f"sessions/{links[place]}/move", {"move": text})[0] == 200


@pytest.mark.slow
def test_a_link_to_watch_does_nothing(client: Client) -> None:
    game = client.new_game("linkage", ["human", "human"])
    link = watching(client, game)
    move = client.ask(f"sessions/{game}")[1]["moves"][0]["text"]
    for what, body in {
        "move": {"move": move},
        "preview": {"move": move},
        "look": {"seat": 0},
        "back": {},
        "agree": {"agree": True},
        "step": {},
        "resign": {},
        "rematch": {},
        "save": {},
        "analysis": {"agent": "linkage_az"},
    }.items():
        status, answer = client.ask(f"sessions/{link}/{what}", body)
        assert status == 409, (what, answer)
    assert client.ask(f"sessions/{link}", method="DELETE")[0] == 200
    assert client.ask(f"sessions/{game}")[0] == 200  # the players' link stays
    assert client.ask(f"sessions/{link}")[0] == 404


@pytest.mark.slow
def test_a_link_to_watch_survives_a_restart_but_not_the_players(tmp_path: Any) -> None:
    with serving(tmp_path) as client:
        game = client.new_game("linkage", ["human", "human"])
        link = watching(client, game)
    with serving(tmp_path) as client:
        status, view = client.ask(f"sessions/{link}")
        assert (status, view["spectator"]) == (200, True)
        rows = client.ask(f"history?ids={link}")[1]["games"]
        assert [row["own_seat"] for row in rows] == [None]
        assert watching(client, game) == link
        client.ask(f"sessions/{game}", method="DELETE")
        assert client.ask(f"sessions/{link}")[0] == 404
