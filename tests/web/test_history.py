"""Moves in the page: the log, earlier pictures, and previews."""

from pathlib import Path

import numpy as np
import pytest

import linkzoo
from linkzoo import get_game
from linkzoo.core.kernels import kernels
from linkzoo.testing.play import choose, mask_of
from linkzoo_training.web.game_session import GameSession
from linkzoo_training.web.history import History
from linkzoo_training.web.viewers import Viewer
from linkzoo_training.web.views import entry, preview, scene_of
from tests.web.server import Client, serving


def _session(client: Client, game: str, seats: list[str]) -> GameSession:
    name = client.new_game(game, seats)
    return client.server.viewer(name).session


def _first(session: GameSession) -> str:
    action = session.legal()[0]
    return session.game.notation.action_to_text(session.state, action)


@pytest.mark.parametrize("game", ["linkage", "love_formula"])
def test_a_log_leaves_out_what_a_seat_does_not_see(client: Client, game: str) -> None:
    session = _session(client, game, ["human", "human"])
    guide = session.game.guide
    mine: list[str] = []
    for _ in range(3):
        state, seat = session.state.copy(), int(session.state.seat)
        if session.waiting is not None:
            session.look(seat)
        action = session.legal()[-1]
        session.play(session.game.notation.action_to_text(state, action))
        mine.append(guide.event(state, action, 0 if session.game.hides else None))
    viewer = Viewer(session, own_seat=0 if session.game.hides else None)
    shown = [event.words for event in session.history.seen(0)]
    assert shown == [sentence for sentence in mine if sentence]
    assert len(session.history) == 3
    assert session.history.last_of([0]) == max(
        event.ply for event in session.history.seen(None) if event.seat == 0
    )
    if not session.game.hides:
        assert [row["words"] for row in scene_of(viewer).facts["log"]] == shown
    session.history.cut(1)
    assert len(session.history) == 1


def test_people_are_called_by_their_names_and_options_are_explained(client: Client) -> None:
    options = {"board_size": 3, "threshold": 3}
    name = client.new_game("linkage", ["human", "random"], names=["Anna"], options=options)
    client.server.viewer(name).play("W a1-b1")
    view = client.settled(name)
    assert view["log"][0]["words"] == "Anna places a white domino on a1 and b1: 1 group."
    assert view["log"][1]["words"].startswith("Player 1 places")
    meaning = get_game("linkage").guide.option_words()["board_size"]
    assert view["variant"][0] == f"board_size = 3 instead of 7: {meaning}"


def test_an_entry_of_the_log_is_the_position_after_it(client: Client) -> None:
    session = _session(client, "linkage", ["human", "human"])
    for _ in range(3):
        session.play(_first(session))
    positions = list(session.record.replay())
    svg = entry(Viewer(session), 1)["svg"]
    assert svg.split(">", 1)[1] == session.game.draw_page(positions[2]).split(">", 1)[1]
    with pytest.raises(ValueError, match=r"entry: 3 is not in 0\.\.2"):
        entry(Viewer(session), 3)


def test_a_preview_is_the_picture_after_the_move(client: Client) -> None:
    session = _session(client, "linkage", ["human", "human"])
    move = _first(session)
    picture = preview(Viewer(session), move)
    assert session.record.actions == []
    session.play(move)
    assert picture["svg"] == entry(Viewer(session), 0)["svg"]
    assert picture["touched"] == session.history.seen(None)[0].touched


@pytest.mark.parametrize("game", ["link_o", "love_links", "love_formula"])
def test_a_preview_is_the_same_in_all_worlds_of_a_seat(client: Client, game: str) -> None:
    """It shows neither hidden cards nor the next draws."""
    for seed in range(2):
        name = client.new_game(game, ["human", "random"], seed=seed)
        client.settled(name)
        session = client.server.viewer(name).session
        move, seat = _first(session), int(session.state.seat)
        picture = preview(Viewer(session), move)
        assert picture["touched"] or game == "love_formula"
        for world in range(2):
            session.game.determinize(session.state, seat, np.uint64(100 + world))
            kernels(session.game).fill_masks.serial(session._states, session._mask)
            assert preview(Viewer(session), move) == picture


def test_a_history_of_an_open_game_is_one_for_all() -> None:
    game = get_game("linkage")
    states = np.zeros(1, game.state)
    states[0] = game.blank(2, {})
    mask = np.zeros((1, game.num_actions), np.int8)
    kernels(game).begin(states, np.array([1], np.uint64), mask)
    history = History(game, [0, 1])
    history.add(states[0], int(np.flatnonzero(mask[0])[0]))
    assert history.seen(0) == history.seen(None)
    assert history.last_of([1]) is None


READER = """
class Reader:
    name = "reader"

    def act(self, positions):
        (history,) = positions.history
        words = [event.words for event in history]
        positions.comments[0] = f"{len(history)} events, the last: {words[-1] if words else ''}"
        return positions.action_mask.argmax(1)
"""


def test_an_agent_of_the_page_knows_its_past(tmp_path: Path) -> None:
    (tmp_path / "reader.py").write_text(READER)
    agent = f"{tmp_path / 'reader.py'}:Reader"
    with serving(tmp_path, custom_agents=[agent]) as client:
        name = client.new_game("linkage", ["human", agent])
        session = client.server.viewer(name).session
        for _ in range(3):
            session.play(_first(session))
            client.settled(name)
        seen = [event.words for event in session.history.seen(1)]
    assert session.record.comments == {
        ply: f"{ply} events, the last: {seen[ply - 1]}" for ply in (1, 3, 5)
    }


@pytest.mark.slow
def test_the_log_hides_who_was_asked_for_a_reaction() -> None:
    """A pass shows what follows, but not who passed."""
    game = get_game("love_formula")
    env = linkzoo.make("love_formula", 3)
    env.reset(seed=1)
    history = History(game, range(3))
    for ply in range(120):
        state = game.from_bytes(env.get_state())
        action = choose(mask_of(game, state), 1, ply)
        history.add(state, action)
        env.step(action)
    movers = {event.ply: event.seat for event in history.seen(None)}
    for seat in range(3):
        hidden = [event.ply for event in history.seen(seat) if event.seat is None]
        assert hidden
        assert seat not in {movers.get(ply) for ply in hidden}
