"""What the server sends to a seat is equal in all worlds that the seat can't tell apart."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from linkzoo import Game, get_game
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Record
from linkzoo.testing.play import choose, clone, mask_of, observation_of, positions
from linkzoo_training.web.certainty import certain_after, was_certain
from linkzoo_training.web.game_session import GameSession
from linkzoo_training.web.viewers import Viewer
from linkzoo_training.web.views import scene_of
from tests.driving import first_quick
from tests.web.server import Client

PLAYERS = 3
GAMES = ["link_o", "love_formula", "love_links"]
Link = dict[int, str]


def _apart(client: Client, game: str, seats: list[str], seed: int = 1) -> tuple[GameSession, Link]:
    """A game and the link of each person, by seat."""
    body = {"game": game, "seats": seats, "seed": seed, "apart": True}
    answer = client.ask("sessions", body)[1]
    links = {int(seat): str(name) for seat, name in answer["seats"].items()}
    return client.server.viewer(answer["id"]).session, links


def _looks_the_same(game: Game, state: Record, world: Record, seat: int) -> bool:
    if not np.array_equal(observation_of(game, state, seat), observation_of(game, world, seat)):
        return False
    return bool(game.to_dict(state, seat) == game.to_dict(world, seat))


def _worlds(game: Game, state: Record, seat: int, ply: int) -> Iterator[Record]:
    """Worlds that a seat can't tell apart: other hidden cards, another seat to act."""
    world = clone(state)
    game.determinize(world, seat, np.uint64(100 + ply))
    yield world
    for other in range(PLAYERS):
        world = clone(state)
        world.seat = other
        if seat not in (state.seat, other) and _looks_the_same(game, state, world, seat):
            yield world


def _put(session: GameSession, state: Record) -> None:
    with session.lock:
        session._states[0] = state
        kernels(session.game).fill_masks.serial(session._states, session._mask)
        session.touch()


def _sent(client: Client, session: GameSession, name: str) -> list[Any]:
    """All answers to a link that leave the game as it is, errors included."""
    asked: list[tuple[str, Any]] = [("", None), ("?tall=true", None), ("/record", None)]
    moves = client.ask(f"sessions/{name}")[1]["moves"]
    for move in moves[:2]:
        asked += [("/preview", {"move": move["text"]}), ("/preview?tall=1", {"move": move["text"]})]
    if not moves:
        asked += [("/move", {"move": "PASS"}), ("/preview", {"move": "PASS"})]
        asked += [("/analysis", {"agent": "checkpoint"})]
    asked += [("/move", {"move": "none"}), ("/look", {"seat": 1}), ("/step", {}), ("/rematch", {})]
    if not client.ask(f"sessions/{name}")[1]["can_take_back"]:
        asked += [("/back", {}), ("/agree", {"agree": True})]
    asked += [(f"/log/{number}", None) for number in (0, 10**6)]
    answers: list[Any] = [client.ask(f"sessions/{name}{path}", body) for path, body in asked]
    answers.append(client.ask(f"sessions?ids={name}"))
    answers.append(client.ask(f"records/{session.file}"))
    answers.append(client.ask("records"))
    return answers


def _check(client: Client, game: str, plies: Callable[[int], bool], most: int) -> int:
    session, links = _apart(client, game, ["human"] * PLAYERS)
    client.ask(f"sessions/{links[0]}/save", {})
    compared = 0
    for ply in range(most):
        if session.over:
            break
        state = clone(session.state)
        for seat in range(PLAYERS) if plies(ply) else ():
            real = _sent(client, session, links[seat])
            for world in _worlds(session.game, state, seat, ply):
                _put(session, world)
                sent = _sent(client, session, links[seat])
                for one, other in zip(real, sent, strict=True):
                    assert one == other, (ply, seat)
                compared += 1
            _put(session, state)
        action = choose(mask_of(session.game, session.state), 7, ply)
        session.play(session.game.notation.action_to_text(session.state, action))
    return compared


@pytest.mark.parametrize("game", first_quick(GAMES, slow=2))
def test_all_that_is_sent_is_equal_in_all_worlds_of_a_seat(client: Client, game: str) -> None:
    assert _check(client, game, lambda ply: ply == 24, 25) >= PLAYERS


@pytest.mark.slow  # quick: test_all_that_is_sent_is_equal_in_all_worlds_of_a_seat
@pytest.mark.nightly
@pytest.mark.parametrize("game", GAMES)
def test_all_that_is_sent_is_equal_at_every_ply(client: Client, game: str) -> None:
    assert _check(client, game, lambda _: True, 500) > 100


def _view(session: GameSession, seat: int) -> str:
    return json.dumps(scene_of(Viewer(session, own_seat=seat)).drawn())


def test_who_is_asked_for_a_reaction_is_secret(client: Client) -> None:
    """Also whether that is an agent, whether it is busy or compiles, and why it failed."""
    session, _ = _apart(client, "love_formula", ["human", "random", "human"])
    seen = set()
    with session.lock:
        session._generation += 1  # the agent's move, if it thinks, is outdated
        state = clone(session.state)
        for seat, thinking, busy in ((1, True, ""), (2, False, ""), (1, True, "random is busy")):
            world = clone(state)
            world.seat = seat
            assert _looks_the_same(session.game, state, world, 0) or state.seat == 0
            session._states[0] = world
            session.thinking = thinking
            session.busy = busy
            seen.add(_view(session, 0))
        assert json.loads(seen.pop())["acting"] is None
        assert not seen
        session.error = "KeyError: 'the hand is Jealous Rival'"
        assert "Jealous Rival" not in json.loads(_view(session, 0))["error"]


def test_hidden_moves_change_nothing_that_another_seat_gets(client: Client) -> None:
    """Neither the view nor its version nor the list of games; nor is a waiting page woken."""
    session, links = _apart(client, "love_formula", ["human"] * PLAYERS)
    first = int(session.state.seat)
    session.play(client.settled(links[first])["moves"][0]["text"])
    before = [client.ask(f"sessions/{links[first]}"), client.ask(f"sessions?ids={links[first]}")]
    second = int(session.state.seat)
    assert second != first
    assert before[0][1]["acting"] is None
    move = client.settled(links[second])["moves"][0]["text"]
    with client.events(links[first], seconds=0.3) as views:
        assert next(views) == before[0][1]
        session.play(move)
        with pytest.raises(TimeoutError):
            next(views)
    after = [client.ask(f"sessions/{links[first]}"), client.ask(f"sessions?ids={links[first]}")]
    assert after == before


def test_before_somebody_looks_a_shared_screen_shows_nothing(client: Client) -> None:
    """Also while an agent has the first move."""
    name = client.new_game("link_o", ["random", "human", "human"])
    session = client.server.viewer(name).session
    with session.lock:
        session._generation += 1
        session.looking = None
        session.state.seat = 0
        session.touch()
    view = client.ask(f"sessions/{name}")[1]
    assert view["waiting"] == 1
    assert set(view).isdisjoint({"svg", "text", "moves", "log"})
    assert client.ask(f"sessions/{name}/look", {"seat": 1})[1]["looking"] == 1


@pytest.mark.parametrize("name", [*GAMES, "linkage"])
def test_certain_is_decided_by_the_rules(name: str) -> None:
    """What a preview shows looks the same in 24 worlds; so does a move that can be taken back."""
    game = get_game(name)
    players = min(PLAYERS, game.max_players)
    shown = 0
    returned = 0
    states = positions(game, players, dict(game.fixed.values), 9)[3:-1]
    for state in states[:: len(states) // 4]:
        seat = int(state.seat)
        worlds = [clone(state) for _ in range(24)]
        for number, world in enumerate(worlds):
            game.determinize(world, seat, np.uint64(number))
        for action in np.flatnonzero(mask_of(game, state))[-2:].tolist():
            certain = certain_after(game, state, action)
            assert certain is not None
            view = game.to_dict(certain, seat)
            after = clone(state)
            game.rules.apply(after, action)
            free = was_certain(game, state, action, after)
            for world in worlds:
                there = certain_after(game, world, action)
                assert there is not None
                assert game.to_dict(there, seat) == view
                if free:
                    game.rules.apply(world_after := clone(world), action)
                    assert game.to_dict(world_after, seat) == game.to_dict(after, seat)
            shown += certain.tobytes() != state.tobytes()
            returned += free
    assert shown > 0
    assert (returned > 0) == (name != "link_o")


def test_luck_and_agents_cards_end_the_way_back(client: Client) -> None:
    """Alone against agents: back before links are drawn (R8), never after a tile was shown."""
    for game, back in (("love_links", [True, False]), ("link_o", [False, False])):
        name = client.new_game(game, ["human", "random"])
        for expected in back:
            view = client.settled(name)
            client.ask(f"sessions/{name}/move", {"move": view["moves"][0]["text"]})
            view = client.settled(name)
            assert view["can_take_back"] == expected
            assert view["has_moved"]
        assert client.ask(f"sessions/{name}/back", {})[0] == 409
