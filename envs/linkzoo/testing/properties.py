"""Checks of the contract, one per property of games and positions.

They raise AssertionError with the error; `check_game` adds the position. A `history` is every
position of one game, including the last.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from html import unescape
from itertools import combinations
from typing import Any

import numpy as np

from linkzoo.core.arguments import shown
from linkzoo.core.game import Game
from linkzoo.core.options import option_names
from linkzoo.core.state import OVER, Record
from linkzoo.envs.aec import GameEnv
from linkzoo.envs.vector import VecEnv
from linkzoo.record import GameRecord
from linkzoo.testing import play
from linkzoo.testing.play import clone, require, require_same

_SYMMETRIES = 8  # played with each game
_DRAWN = 3  # plies between pictures whose parts are compared
_PART = re.compile(r"""data-part=("[^"]*"|'[^']*')""")


def _constant_fields(game: Game) -> set[str]:
    """Returns the fields that no action changes."""
    return {"seed", "num_players", *option_names(game.options)} - set(game.fixed.values)


# Games


def symmetries(game: Game, seed: int) -> None:
    """Checks that index arrays are permutations; without chance, that games stay symmetric."""
    if game.observation.symmetries is None:
        return
    observations, actions, privileged = game.observation.symmetries()
    hidden = game.observation.privileged_spec
    hidden_size = 0
    if hidden is not None:
        hidden_size = hidden.size
    for name, maps, width in (
        ("observations", observations, game.observation.spec.size),
        ("actions", actions, game.num_actions),
        ("privileged", privileged, hidden_size),
    ):
        require(maps.shape == (len(observations), width), f"{name} have shape {maps.shape}")
        require((maps[0] == np.arange(width)).all(), f"{name}: the first isn't the identity")
        whole = (np.sort(maps, axis=1) == np.arange(width)).all()
        require(whole, f"{name}: an index occurs twice")
    if game.facts.chance:
        return
    count = len(observations)
    for symmetry in np.linspace(0, count - 1, min(_SYMMETRIES, count)).astype(int):
        state = play.new(game, game.min_players, game.fixed.values, seed)
        other = clone(state)
        while True:
            position = f"symmetry {symmetry} at ply {state.ply}"
            for seat in range(game.min_players):
                expected = play.observation_of(game, state, seat)[observations[symmetry]]
                same = np.array_equal(play.observation_of(game, other, seat), expected)
                require(same, f"{position}: seat {seat} sees something else")
            mask = play.mask_of(game, state)
            same = (play.mask_of(game, other)[actions[symmetry]] == mask).all()
            require(same, f"{position}: other actions are legal")
            outcomes = zip(play.outcome_of(game, state), play.outcome_of(game, other), strict=True)
            require(all(np.array_equal(*pair) for pair in outcomes), f"{position}: other payoffs")
            if state.seat == OVER:
                break
            action = play.choose(mask, seed, int(state.ply))
            game.rules.apply(state, action)
            game.rules.apply(other, int(actions[symmetry, action]))


# A whole game


def header(game: Game, history: Sequence[Record]) -> None:
    """Checks that plies count, that seats and winners are in range, and that options stay."""
    first = history[0]
    players = int(first.num_players)
    for ply, state in enumerate(history):
        last = ply == len(history) - 1
        require(state.ply == ply, f"ply is {state.ply} after {ply} actions")
        for name in _constant_fields(game):
            require((state[name] == first[name]).all(), f"{name} has changed at ply {ply}")
        require(OVER <= state.seat < players, f"seat is {state.seat} at ply {ply}")
        require((state.seat == OVER) == last, f"seat is {state.seat} at ply {ply}")
        require((state.winners != 0) == last, f"winners are {state.winners:b} at ply {ply}")
    won = int(history[-1].winners)
    sides = game.facts.sides(players)
    require(won < 2**players, f"winners {won:b} of {players} seats")
    for seat, side in enumerate(sides):
        same = won >> seat & 1 == won >> sides.index(side) & 1
        require(same, f"winners {won:b}: one side of {sides} wins and loses")


def new_game(game: Game, history: Sequence[Record]) -> None:
    """Checks that a reused record becomes the same game as a blank one."""
    players = int(history[0].num_players)
    options = game.chosen_options(history[0])
    for seed in (1, 2**64 - 1):
        again = clone(history[-1])
        game.rules.new_game(again, np.uint64(seed))
        fresh = play.new(game, players, options, seed)
        require(fresh.seed == seed, f"the seed is {fresh.seed}, not {seed}")
        require_same(again, fresh, "something of the old game is left in the record")


def chance(game: Game, history: Sequence[Record]) -> None:
    """Checks that the seed decides nothing if the game says so."""
    if game.facts.chance:
        return
    first = history[0]
    seed = int(first.seed)
    options = game.chosen_options(first)
    state = play.new(game, int(first.num_players), options, seed ^ 1)
    for ply, expected in enumerate(history):
        same = clone(state)
        same.seed = seed
        require_same(same, expected, f"chance=False, but at ply {ply} another seed decides")
        if state.seat != OVER:
            game.rules.apply(state, play.choose(play.mask_of(game, state), seed, ply + 1))


def payoffs(game: Game, history: Sequence[Record]) -> None:
    """Checks that payoffs are zero-sum, in -1..1, at the end only, and highest for winners."""
    *before, end = history
    for state in before:
        require(not play.outcome_of(game, state)[0].any(), f"a payoff at ply {state.ply}")
    payoff, margin = play.outcome_of(game, end)
    require(np.isfinite(margin).all(), f"score margins {margin} aren't finite")
    require(abs(payoff.sum()) < 1e-5, f"{payoff} aren't zero-sum")
    require((abs(payoff) <= 1).all(), f"{payoff} aren't in -1..1")
    players = int(end.num_players)
    won = (int(end.winners) >> np.arange(players)) & 1 == 1
    most = payoff == payoff.max()
    require(np.array_equal(won, most), f"{payoff}, but winners {int(end.winners):b}")
    if won.all():
        require(not payoff.any(), f"{payoff} of a draw")


def action_parts(game: Game, history: Sequence[Record]) -> None:
    """Checks that a legal action's names identify it, in any order.

    A name that is drawn for a seat to act must be drawn wherever that seat can choose it.
    """
    if game.notation.action_parts is None:
        return
    wanted: list[set[str]] = []
    drawn: list[set[str]] = []
    for state in history[:-1]:
        before = clone(state)
        legal = np.flatnonzero(play.mask_of(game, state)).tolist()
        named = [game.notation.action_parts(state, action) for action in legal]
        for names in named:
            strings = all(isinstance(name, str) for name in names)
            require(names and strings and all(names), f"{names!r} at ply {state.ply}")
        choices = Counter(choice for names in named for choice in _choices(names))
        for names in named:
            unique = choices[tuple(sorted(names))] == 1
            require(unique, f"{names!r} leads to another action, too")
        if state.ply % _DRAWN == 0:
            wanted.append({name for names in named for name in names})
            quoted = _PART.findall(game.draw_svg(state, int(state.seat)))
            drawn.append({unescape(name[1:-1]) for name in quoted})
        require_same(state, before, "the record changes")
    ever: set[str] = set().union(*drawn)
    for index, (names_here, drawn_here) in enumerate(zip(wanted, drawn, strict=True)):
        missing = (names_here & ever) - drawn_here
        require(not missing, f"the picture lacks {sorted(missing)} at ply {index * _DRAWN}")


def _choices(names: Sequence[str]) -> set[tuple[str, ...]]:
    """Returns every subset of the names, sorted."""
    ordered = sorted(names)
    return {some for size in range(1, len(ordered) + 1) for some in combinations(ordered, size)}


# One position


def masks(game: Game, state: Record) -> None:
    """Checks that masks are 0 or 1, fully written, and nonempty if and only if a seat is to act."""
    before = clone(state)
    mask = play.mask_of(game, state)
    for dirt in (0, 1):
        written = np.array_equal(mask, play.mask_of(game, state, dirt))
        require(written, "an element of the mask isn't written")
    require(mask.any() == (state.seat != OVER), f"{mask.sum()} actions of seat {state.seat}")
    require_same(state, before, "legal_actions changes the record")


def every_legal_action(game: Game, state: Record) -> None:
    """Checks that each legal action leads to a valid position."""
    legal = np.flatnonzero(play.mask_of(game, state))
    before = clone(state)
    after, again = (np.repeat(state.reshape(1), len(legal)) for _ in range(2))
    for row, action in enumerate(legal.tolist()):
        game.rules.apply(after[row], action)
        game.rules.apply(again[row], np.int64(action))  # type: ignore[arg-type]  # NumPy's, too
        over = after[row].seat == OVER
        require(play.mask_of(game, after[row]).any() != over, f"a dead end after action {action}")
        require((after[row].winners != 0) == over, f"no winners after action {action}")
        require(after[row].ply == state.ply + 1, f"action {action} isn't counted in ply")
        for name in _constant_fields(game):
            require((after[row][name] == state[name]).all(), f"action {action} changes {name}")
        require_same(again[row], after[row], f"action {action} leads to two positions")
    require_same(state, before, "actions on a copy change the record")


def can_be_finished(game: Game, state: Record) -> None:
    """Checks that random play after each legal action reaches a valid end."""
    legal = np.flatnonzero(play.mask_of(game, state))
    after = np.repeat(state.reshape(1), len(legal))
    for row, action in enumerate(legal.tolist()):
        game.rules.apply(after[row], action)
    require(play.play_out(game, after)["winners"].all(), "an end without winners")


def observations(game: Game, state: Record) -> None:
    """Checks that observations are fully written, within bounds, and don't change the record."""
    before = clone(state)
    observation = game.observation
    filled = [("observe", observation.observe, observation.spec)]
    if observation.reveal is not None and observation.privileged_spec is not None:
        filled.append(("reveal", observation.reveal, observation.privileged_spec))
    for seat in range(int(state.num_players)):
        for name, fill, spec in filled:
            first, second = (np.full(spec.size, dirt, spec.dtype) for dirt in (101, 100))
            fill(state, seat, first)
            fill(state, seat, second)
            written = np.array_equal(first, second)
            require(written, f"{name} leaves elements as they were for seat {seat}")
            for part, elements in zip(spec.parts, spec.slices().values(), strict=True):
                low = first[elements].min()
                high = first[elements].max()
                inside = part.low <= low and high <= part.high
                filled_with = f"{name} fills for seat {seat} {part.name} with {low}..{high}"
                require(inside, f"{filled_with}, not {part.low}..{part.high}")
    require_same(state, before, "the record changes")


def action_features(game: Game, state: Record) -> None:
    """Checks that features of actions are fully written, within bounds, and keep the record."""
    spec = game.observation.action_spec
    before = clone(state)
    if spec is None or state.seat == OVER:
        return
    rows = play.action_features_of(game, state, dirt=101)
    require(np.array_equal(rows, play.action_features_of(game, state)), "some aren't written")
    for part, elements in zip(spec.parts, spec.slices().values(), strict=True):
        values = rows[:, elements]
        low = values.min()
        high = values.max()
        inside = part.low <= low and high <= part.high
        require(inside, f"{part.name} is {low}..{high}, not {part.low}..{part.high}")
        same = not part.broadcast or (values == values[0]).all()
        require(same, f"{part.name} differs between actions, though it is broadcast")
    require_same(state, before, "the record changes")


def bytes_and_json(game: Game, state: Record) -> None:
    """Checks that bytes and JSON round-trip, and that a seat's JSON has no seed."""
    before = clone(state)
    require_same(_read(game, state), before, "from_bytes returns another record")
    whole = game.to_dict(state)
    require(json.loads(json.dumps(whole)) == whole, "to_dict isn't JSON data")
    require_same(game.from_dict(whole), before, "from_dict(to_dict) is another record")
    require(game.chosen_options(state) == whole["options"], "to_dict has other options")
    seen = game.to_dict(state, int(state.ply) % int(state.num_players))
    require("seed" not in seen, "to_dict of a seat has the seed")
    require(json.loads(json.dumps(seen)) == seen, "to_dict of a seat isn't JSON data")
    require_same(state, before, "to_dict changes the record")


def _read(game: Game, state: Record) -> Record:
    try:
        return game.from_bytes(state.tobytes())
    except ValueError as error:
        raise AssertionError(f"from_bytes refuses it: {error}") from error


def notation(game: Game, state: Record) -> None:
    """Checks that action texts are unique and round-trip, and that other texts are refused."""
    to_text = game.notation.action_to_text
    to_action = game.notation.text_to_action
    before = clone(state)
    legal = np.flatnonzero(play.mask_of(game, state)).tolist()
    texts = [to_text(state, action) for action in legal]
    require(len(set(texts)) == len(texts), f"two legal moves are written the same: {shown(texts)}")
    for action, text in zip(legal, texts, strict=True):
        back = to_action(state, text)
        require(back == action, f"action {action} is {text!r}, which is action {back}")
    require_same(state, before, "the record changes")
    for number in (-1, game.num_actions):
        _check_refused(to_text, state, number)
    for text in ("", "no such move"):
        _check_refused(to_action, state, text)


def _check_refused(function: Callable[..., Any], state: Record, value: Any) -> None:
    try:
        accepted = function(state, value)
    except ValueError:
        return
    raise AssertionError(f"{value!r} is no move, but is accepted as {accepted!r}")


def drawings(game: Game, state: Record) -> None:
    """Checks text and SVG for the referee and for each seat."""
    for seat in (None, *range(int(state.num_players))):
        require(isinstance(game.drawing.text(state, seat), str), "text returns no string")
        require(game.draw_svg(state, seat).startswith("<svg"), "svg returns no SVG")


def determinize(game: Game, state: Record, seat: int, plays: bool = False) -> None:
    """Checks that a determinized world looks the same to its seat and leaks nothing hidden.

    With `plays`, also checks that it is drawn the same for the seat and can be played to an end.
    """
    before = clone(state)
    world = clone(state)
    again = clone(state)
    game.determinize(world, seat, np.uint64(77))
    game.determinize(again, seat, np.uint64(77))
    require_same(again, world, "it isn't a function of the seed")
    require(world.seed == 77, "it doesn't store the seed, which all later chance comes from")
    _check_looks_the_same(game, state, world, seat)
    game.determinize(world, seat, np.uint64(98))
    game.determinize(again := clone(state), seat, np.uint64(98))
    require_same(again, world, "it depends on what the seat can't see")
    _check_looks_the_same(game, state, world, seat)
    require_same(state, before, "the record of which a copy is determinized changes")
    require_same(_read(game, world), world, "from_bytes returns another world")
    require_same(game.from_dict(game.to_dict(world)), world, "from_dict returns another world")
    if plays:
        for name, draw in (("text", game.drawing.text), ("SVG", game.draw_svg)):
            require(draw(world, seat) == draw(state, seat), f"{name} shows seat {seat} more")
        ends = play.play_out(game, world.reshape(1))
        require(ends["winners"].all(), "an end without winners")


def _check_looks_the_same(game: Game, state: Record, world: Record, seat: int) -> None:
    """Checks that observation, mask, moves, header and JSON of a seat agree in two worlds."""
    real = play.observation_of(game, state, seat)
    drawn = play.observation_of(game, world, seat)
    require(np.array_equal(real, drawn), f"seat {seat} observes hidden information")
    if state.seat == seat:
        mask = play.mask_of(game, state)
        require(np.array_equal(mask, play.mask_of(game, world)), f"the mask shows seat {seat} more")
        for action in np.flatnonzero(mask).tolist():
            text = game.notation.action_to_text(state, action)
            same = game.notation.action_to_text(world, action) == text
            same = same and game.notation.text_to_action(world, text) == action
            require(same, f"move {text!r} is another one")
        real = play.action_features_of(game, state)
        drawn = play.action_features_of(game, world)
        require(np.array_equal(real, drawn), f"action features show seat {seat} more")
    for name in _constant_fields(game) - {"seed"} | {"seat", "ply", "winners"}:
        require(world[name] == state[name], f"it changes {name}")
    require(game.to_dict(world, seat) == game.to_dict(state, seat), f"JSON shows seat {seat} more")


def heuristic(game: Game, state: Record) -> None:
    """Checks that the heuristic, if any, is finite."""
    if game.rules.heuristic is not None and state.seat != OVER:
        value = game.rules.heuristic(state, clone(state), int(state.seat))
        require(np.isfinite(value), f"it returns {value}")


OF_A_GAME = (header, new_game, chance, payoffs, action_parts)
OF_A_POSITION = (masks, observations, action_features, bytes_and_json, notation, heuristic)

# Environments, which find the game by name


def environments(game: Game, num_players: int, options: dict[str, Any], seed: int) -> None:
    """Checks that a vector game equals the AEC game of its seed, and that its record replays it."""
    vec = VecEnv(game.name, 3, num_players, **options)
    now = vec.reset(seed=seed)
    played: list[list[int]] = [[], [], []]
    states = [[clone(vec.states[i])] for i in range(3)]
    going = {0, 1, 2}
    while going:
        actions = [play.choose(now.action_mask[i], seed, 3 * len(played[i]) + i) for i in range(3)]
        now = vec.step(actions)
        for i in sorted(going):
            played[i].append(actions[i])
            if not now.done[i]:
                states[i].append(clone(vec.states[i]))
                continue
            going.remove(i)
            rewards = now.reward[i].tolist()
            env = GameEnv(game.name, num_players, **options)
            env.reset(seed=vec.seed_of(i, 0))
            for ply, action in enumerate(played[i]):
                now_there = game.from_bytes(env.get_state())
                require_same(now_there, states[i][ply], "AEC and vector games differ")
                env.step(action)
            ended = all(env.terminations.values())
            require(ended, "an AEC game goes on after the vector game's end")
            require(list(env.rewards.values()) == rewards, "AEC and vector rewards differ")
            record = env.record()
            again = GameRecord.from_dict(json.loads(json.dumps(record.to_dict())))
            require(again == record, "a record is read as another one")
            *_, end = again.replay()
            require_same(end, game.from_bytes(env.get_state()), "a record leads to another end")
