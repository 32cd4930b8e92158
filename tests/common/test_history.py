"""The past of a game as a seat knows it: `Positions.history`, in every place that keeps it."""

import pickle
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import linkzoo
from linkzoo import Game, Positions, get_game, make_vec
from linkzoo.core.history import Event, History
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Record
from linkzoo.policy import Policy
from linkzoo.testing.play import choose, clone, mask_of, observation_of
from linkzoo.text import TextGame

NAMES = linkzoo.game_names()


def dealt(game: Game, players: int, seed: int) -> Record:
    states = np.array([game.blank(players)], game.state)
    mask = np.empty((1, game.num_actions), np.int8)
    kernels(game).begin(states, np.array([seed], np.uint64), mask)
    return clone(states[0])


def after(game: Game, state: Record, action: int) -> Record:
    states = state.reshape(1).copy()
    mask = np.empty(game.num_actions, np.int8)
    kernels(game).play_one(states, action, mask)
    return clone(states[0])


def same(events: list[Event], others: list[Event]) -> bool:
    if [event[:3] for event in events] != [event[:3] for event in others]:
        return False
    pairs = zip(events, others, strict=True)
    return all(np.array_equal(one.observation, other.observation) for one, other in pairs)


def view(game: Game, state: Record, seat: int) -> Any:
    own_turn = int(state.seat) == seat
    return observation_of(game, state, seat).tobytes(), repr(game.to_dict(state, seat)), own_turn


def matches(
    game: Game, world: Record, seat: int, wanted: Any
) -> Iterator[tuple[list[int], Record]]:
    """Up to two moves of other seats after which a seat has the wanted view."""
    unchanged = view(game, world, seat)
    if unchanged == wanted:
        yield [], world
    if world.seat < 0 or world.seat == seat:
        return
    for first in np.flatnonzero(mask_of(game, world))[:40].tolist():
        state = after(game, world, first)
        seen = view(game, state, seat)
        if seen == wanted:
            yield [first], state
        elif state.seat >= 0 and state.seat != seat and seen == unchanged:
            for second in np.flatnonzero(mask_of(game, state))[:10].tolist():
                if view(game, end := after(game, state, second), seat) == wanted:
                    yield [first, second], end


def compared(game: Game, players: int, seed: int, plies: int) -> int:
    """Plays a game and, in another world of a seat, moves that look the same to it.

    Returns:
        How often the worlds had other moves with equal histories.
    """
    seat = seed % players
    state = dealt(game, players, seed)
    for ply in range(seed * 7 % game.facts.typical_length):
        later = after(game, state, choose(mask_of(game, state), seed, ply))
        if later.seat < 0:
            break
        state = later
    world = clone(state)
    game.determinize(world, seat, np.uint64(seed + 50))
    starts = clone(state), clone(world)
    actions: list[int] = []
    others: list[int] = []
    different = 0
    for ply in range(plies):
        if state.seat < 0:
            break
        action = choose(mask_of(game, state), seed, 1000 + ply)
        own = int(state.seat) == seat
        state = after(game, state, action)
        wanted = view(game, state, seat)
        if own:
            found = [([action], after(game, world, action))]
            found = [pair for pair in found if view(game, pair[1], seat) == wanted]
        else:
            found = list(matches(game, world, seat, wanted))
        if not found:  # a draw told the worlds apart
            break
        moves, world = found[ply % len(found)]
        actions.append(action)
        others += moves
        real = History(game, starts[0], actions).events(seat)
        assert same(real, History(game, starts[1], others).events(seat))
        different += actions != others
    return different


@pytest.mark.parametrize(("name", "seeds"), [("love_formula", 8), ("link_o", 6), ("love_links", 2)])
def test_histories_are_equal_in_worlds_that_a_seat_cannot_tell_apart(name: str, seeds: int) -> None:
    game = get_game(name)
    different = sum(compared(game, 3, seed, 12) for seed in range(seeds))
    assert (different > 0) == (name == "love_formula")  # moves are open in the others


def test_moves_of_link_o_are_open() -> None:
    """All seats see who places which tile, though hands are hidden."""
    game = get_game("link_o")
    state = dealt(game, 2, 1)
    action = int(mask_of(game, state).argmax())
    mover = int(state.seat)
    for seat in range(2):
        (event,) = History(game, state, [action]).events(seat)
        assert (event.seat, event.action) == (mover, action)


@pytest.mark.slow
def test_who_decided_a_secret_reaction_stays_secret() -> None:
    """A pass shows what follows, but not who passed: only a seat with a reaction is asked."""
    game = get_game("love_formula")
    start = state = dealt(game, 3, 1)
    actions: list[int] = []
    while state.seat >= 0 and len(actions) < 120:
        actions.append(choose(mask_of(game, state), 1, len(actions)))
        state = after(game, state, actions[-1])
    history = History(game, start, actions)
    for seat in range(3):
        events = history.events(seat)
        assert any(event.seat is None and event.words for event in events)
        for event in events:
            assert (event.action is None) == (event.seat != seat)


@pytest.mark.parametrize("name", NAMES)
def test_an_environment_knows_its_past(name: str) -> None:
    """Each own decision with its observation; also after copies, pickling and a new game."""
    game = get_game(name)
    env = linkzoo.make(name, game.max_players)
    policy = Policy(Reader(), game)
    for seed in (1, 2):
        env.reset(seed=seed)
        decisions: dict[str, list[tuple[int, NDArray[Any]]]] = {a: [] for a in env.agents}
        for _ in range(12):
            agent = env.agent_selection
            action = policy.predict(deepcopy(env) if seed == 2 else env)
            seat = int(agent.removeprefix("player_"))
            events = env.past.events(seat)
            own = [(event.action, event.observation) for event in events if event.seat == seat]
            for (played, seen), (known, remembered) in zip(decisions[agent], own, strict=True):
                assert played == known
                assert np.array_equal(seen, remembered)
            decisions[agent].append((action, env.observe(agent)["observation"].copy()))
            env.step(action)
            if all(env.terminations.values()):
                break
        for seat in range(game.max_players):
            events = env.past.events(seat)
            assert same(events, pickle.loads(pickle.dumps(env)).past.events(seat))
            assert same(events, env.record().history(seat))


class Reader:
    """Plays by the past, and keeps it."""

    name = "reader"

    def __init__(self) -> None:
        self.read: list[list[Event]] = []

    def act(self, positions: Positions) -> NDArray[np.int64]:
        self.read += positions.history
        counts = np.array([len(events) for events in positions.history])
        legal = [np.flatnonzero(mask) for mask in positions.action_mask]
        chosen = [row[count % len(row)] for row, count in zip(legal, counts, strict=True)]
        return np.array(chosen, np.int64)


def test_moves_that_are_taken_back_are_forgotten() -> None:
    game = get_game("linkage")
    start = dealt(game, 2, 1)
    first, second = np.flatnonzero(mask_of(game, start))[[0, 40]].tolist()
    third = int(mask_of(game, after(game, start, second)).argmax())
    actions = [first]
    history = History(game, start, actions)
    assert [event.action for event in history.events(0)] == [first]
    actions[:] = [second, third]
    expected = History(game, start, [second, third]).events(1)
    assert [event.action for event in expected] == [second, third]
    assert same(history.events(1), expected)
    actions.pop()
    assert same(history.events(1), expected[:1])


def test_text_games_and_single_seats_give_it() -> None:
    game = TextGame("link_o", 2, seed=3)
    for _ in range(6):
        game.play(int(game.positions.action_mask[0].argmax()))
    seat = game.seat
    assert seat is not None
    (history,) = game.positions.history
    assert [event.words for event in history] == game.events(seat)
    reader = Reader()
    env = linkzoo.SeatEnv("love_links", seat=1, opponent=reader)
    _, info = env.reset(seed=1)
    for _ in range(4):
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
        assert not over
    assert len(reader.read) >= 4
    assert same(reader.read[-1], env.env.past.events(0)[: len(reader.read[-1])])


def test_where_no_past_is_kept_the_error_says_where_it_is() -> None:
    vec = make_vec("linkage", 2)
    vec.reset(1)
    positions = Positions(vec.game, vec.states, np.zeros(2, np.uint64))
    for given in (positions, positions.part(np.array([1]))):
        with pytest.raises(ValueError, match=r"without their past\. GameEnv, SeatEnv, TextGame, "):
            _ = given.history


@pytest.mark.parametrize("actions", [[10**6], [-1], [0, 0], [1.5], ["x"], [True]])
def test_actions_are_checked(actions: Any) -> None:
    """Compiled code would write outside the record."""
    game = get_game("linkage")
    with pytest.raises(ValueError, match=r"^action"):
        History(game, dealt(game, 2, 1), actions).events(0)


@pytest.mark.parametrize("seat", [-1, 2, 0.0, None])
def test_seats_are_checked(seat: Any) -> None:
    game = get_game("linkage")
    with pytest.raises(ValueError, match=r"^seat: "):
        History(game, dealt(game, 2, 1), [0]).events(seat)
