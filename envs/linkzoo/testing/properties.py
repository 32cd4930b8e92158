"""What the contract promises of a game, one function for each property.

They raise AssertionError with what is wrong; `check_game` adds where. A `history` is every position
of one game, the last one included.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields
from html import unescape
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.envs.aec import GameEnv
from linkzoo.core.kernels import kernels
from linkzoo.engine.compiled import Record
from linkzoo.core.features import FeatureMap
from linkzoo.core.arguments import shown
from linkzoo.core.game import HEADER, Game, ObservationSpec
from linkzoo.record import GameRecord
from linkzoo.testing.play import (
    OVER,
    choose,
    clone,
    mask_of,
    new,
    observation_of,
    outcome_of,
    play_out,
)
from linkzoo.envs.vector import VecEnv

_SYMMETRIES = 8  # that are tried with each game
_DRAWN = 3  # plies from picture to picture whose parts are looked at
_PART = re.compile(r"""data-part=("[^"]*"|'[^']*')""")


def require(condition: Any, otherwise: str) -> None:
    """AssertionError unless the condition holds."""
    if not condition:
        raise AssertionError(otherwise)


def kept(game: Game) -> set[str]:
    """The fields that no action changes."""
    options: Any = game.options
    return {"seed", "num_players", *(option.name for option in fields(options))} - set(game.fixed)


# Of the game


def declarations(game: Game) -> None:
    """Names, numbers and the record's fields."""
    require(game.name.isidentifier(), f"name: {game.name!r} is no identifier")
    require(
        1 <= game.min_players <= game.max_players <= 32, "min_players..max_players: none in 1..32"
    )
    require(0 < game.typical_length <= game.max_length, "typical_length isn't in 1..max_length")
    names = list(game.state.names or ())
    require(names[: len(HEADER)] == [name for name, _ in HEADER], "state: the header isn't first")
    sizes = 0
    for name in names:
        kind = game.state[name]
        require(kind.base.kind in "iu", f"state: {name} isn't of integers")
        sizes += kind.itemsize
    require(sizes == game.state.itemsize, "state: there are bytes between the fields")
    declared = {field.name for field in game.fields}
    undeclared = set(names) - declared - {name for name, _ in HEADER}
    undeclared -= {"skip_forced", "_padding"}
    require(not undeclared, f"fields: {sorted(undeclared)} of the record aren't among them")
    options: Any = game.options
    has = [option.name for option in fields(options)]
    require("skip_forced" in has, "options: skip_forced is missing, an option of every game")
    for players in range(game.min_players, game.max_players + 1):
        sides = game.sides(players)
        require(len(sides) == players, f"sides: {sides} of {players} players")
        require(set(sides) == set(range(max(sides) + 1)), f"sides: {sides} leave a number out")


def cells(game: Game) -> None:
    """Where actions lie, and the graph's tables: each index is one of what it indexes."""
    places = game.action_cells
    if places is not None:
        require(places.shape == (game.num_actions,), f"action_cells have shape {places.shape}")
        lying = places[places >= 0]
        require(len(np.unique(lying)) == len(lying), "action_cells: two actions lie in one place")
        where = game.observation.shape[1:] if game.graph is None else (len(game.graph().cells),)
        most = int(np.prod(where)) * game.num_actions
        require((places < most).all(), "action_cells: there are more planes than actions")
    if game.graph is None:
        return
    graph = game.graph()
    require(places is not None, "graph: no action_cells say where actions lie")
    count, groups = len(graph.cells), len(graph.groups)
    for name, table, shape, least, bound in (
        ("cells", graph.cells, (count, -1), -1, game.observation.size),
        ("neighbours", graph.neighbours, (count, -1), -1, count),
        ("group", graph.group, (count,), 0, groups),
        ("groups", graph.groups, (groups, -1), -1, game.observation.size),
    ):
        require(table.dtype.kind == "i", f"graph: {name} has numbers of {table.dtype}")
        alike = table.ndim == len(shape) and len(table) == shape[0]
        require(alike, f"graph: {name} has shape {table.shape}")
        inside = (table >= least).all() and (table < bound).all()
        require(inside, f"graph: {name} has numbers outside {least}..{bound - 1}")
    require(set(graph.group.tolist()) == set(range(groups)), "graph: a group has no cells")
    for name, elements in (("cells", graph.cells), ("groups", graph.groups)):
        try:
            FeatureMap(game.observation).index(elements)
        except ValueError as error:
            raise AssertionError(f"graph: {name}: {error}") from error


def lengths(game: Game) -> None:
    """`typical_length` is the mean of random games in the standard options, over the players."""
    found = []
    for players in range(game.min_players, game.max_players + 1):
        begun = [new(game, players, game.fixed, seed) for seed in range(60)]
        found.append(play_out(game, np.array(begun, game.state))["ply"])
    mean = float(np.concatenate(found).mean())
    require(
        abs(game.typical_length - mean) <= max(0.25 * mean, 1),
        f"typical_length is {game.typical_length}, the mean of random games {mean:.1f}",
    )


def symmetric_games(game: Game, seed: int) -> None:
    """The index arrays; without chance, a game played along with its symmetric ones."""
    if game.symmetries is None:
        return
    seen, acts, hidden = game.symmetries()
    size = 0 if game.hidden is None else game.hidden.size
    for what, maps, width in (
        ("observations", seen, game.observation.size),
        ("actions", acts, game.num_actions),
        ("hidden", hidden, size),
    ):
        require(maps.shape == (len(seen), width), f"symmetries: {what} have shape {maps.shape}")
        require((maps[0] == np.arange(width)).all(), f"symmetries: {what}: no identity first")
        whole = (np.sort(maps, axis=1) == np.arange(width)).all()
        require(whole, f"symmetries: {what}: an index occurs twice")
    if game.chance:
        return
    for which in np.linspace(0, len(seen) - 1, min(_SYMMETRIES, len(seen))).astype(int):
        state = new(game, game.min_players, game.fixed, seed)
        other = clone(state)
        while True:
            where = f"symmetry {which} at ply {state.ply}"
            for seat in range(game.min_players):
                expected = observation_of(game, state, seat)[seen[which]]
                same = np.array_equal(observation_of(game, other, seat), expected)
                require(same, f"{where}: seat {seat} sees something else")
            mask = mask_of(game, state)
            require((mask_of(game, other)[acts[which]] == mask).all(), f"{where}: other actions")
            outcomes = zip(outcome_of(game, state), outcome_of(game, other), strict=True)
            require(all(np.array_equal(*pair) for pair in outcomes), f"{where}: other payoffs")
            if state.seat == OVER:
                break
            action = choose(mask, seed, int(state.ply))
            game.apply(state, action)
            game.apply(other, int(acts[which, action]))


# Of one game from its start to its end


def conservation(game: Game, history: Sequence[Record]) -> None:
    """Plies count, seats and winners are in range, options and seed stay."""
    first, players = history[0], int(history[0].num_players)
    for ply, state in enumerate(history):
        last = ply == len(history) - 1
        require(state.ply == ply, f"ply is {state.ply} after {ply} actions")
        for name in kept(game):
            require((state[name] == first[name]).all(), f"{name} has changed at ply {ply}")
        require(OVER <= state.seat < players, f"seat is {state.seat} at ply {ply}")
        require((state.seat == OVER) == last, f"seat is {state.seat} at ply {ply}")
        require((state.winners != 0) == last, f"winners are {state.winners:b} at ply {ply}")
    won, sides = int(history[-1].winners), game.sides(players)
    require(won < 2**players, f"winners {won:b} of {players} seats")
    for seat, side in enumerate(sides):
        same = won >> seat & 1 == won >> sides.index(side) & 1
        require(same, f"winners {won:b}: one side of {sides} wins and loses")


def a_new_game(game: Game, history: Sequence[Record]) -> None:
    """A record that is used again becomes the same game as a blank one."""
    players, options = int(history[0].num_players), game.chosen_options(history[0])
    for seed in (1, 2**64 - 1):
        again = clone(history[-1])
        game.new_game(again, np.uint64(seed))
        fresh = new(game, players, options, seed)
        require(fresh.seed == seed, f"new_game: the seed is {fresh.seed}, not {seed}")
        same = again.tobytes() == fresh.tobytes()
        require(same, "new_game leaves something of the old game in the record")


def payoffs(game: Game, history: Sequence[Record]) -> None:
    """Zero-sum, in -1..1, at the end only; winners get the most: a sole one 1, all of them 0."""
    *before, end = history
    for state in before:
        require(not outcome_of(game, state)[0].any(), f"payoffs at ply {state.ply}")
    payoff, margin = outcome_of(game, end)
    require(np.isfinite(margin).all(), f"margins {margin} aren't finite")
    require(abs(payoff.sum()) < 1e-5, f"payoffs {payoff} aren't zero-sum")
    require((abs(payoff) <= 1).all(), f"payoffs {payoff} aren't in -1..1")
    players = int(end.num_players)
    won = (int(end.winners) >> np.arange(players)) & 1 == 1
    most = payoff == payoff.max()
    require(np.array_equal(won, most), f"payoffs {payoff}, but winners {int(end.winners):b}")
    if won.all():
        require(not payoff.any(), f"payoffs {payoff} of a draw")
    elif len({game.sides(players)[seat] for seat in np.flatnonzero(won)}) == 1:
        require(payoff.max() == 1, f"payoffs {payoff} of a sole winner")


def parts(game: Game, history: Sequence[Record]) -> None:
    """What a person points at for an action: names that lead to it alone, whatever their order.

    A name that is drawn for a seat to act is drawn wherever that seat can choose it.
    """
    if game.action_parts is None:
        return
    asked: list[set[str]] = []
    drawn: list[set[str]] = []
    for state in history[:-1]:
        before, legal = state.tobytes(), np.flatnonzero(mask_of(game, state)).tolist()
        named: list[Any] = [game.action_parts(state, action) for action in legal]
        for names in named:
            strings = len(names) > 0 and all(isinstance(name, str) and name for name in names)
            require(strings, f"action_parts: {names!r} at ply {state.ply}")
        choices = Counter(chosen for names in named for chosen in _choices(names))
        for names in named:
            alone = choices[tuple(sorted(names))] == 1
            require(alone, f"action_parts: {names!r} leads to another action, too")
        if state.ply % _DRAWN == 0:
            asked.append({name for names in named for name in names})
            found = _PART.findall(game.draw_svg(state, int(state.seat)))
            drawn.append({unescape(name[1:-1]) for name in found})
        require(state.tobytes() == before, "action_parts changes the record")
    ever: set[str] = set().union(*drawn)
    for place, (wanted, there) in enumerate(zip(asked, drawn, strict=True)):
        missing = (wanted & ever) - there
        require(not missing, f"the picture lacks {sorted(missing)} at ply {place * _DRAWN}")


def _choices(names: Sequence[str]) -> set[tuple[str, ...]]:
    """Every way to choose some of the names, in alphabetical order."""
    each = sorted(names)
    return {some for size in range(1, len(each) + 1) for some in combinations(each, size)}


# Of one position


def masks(game: Game, state: Record) -> None:
    """0 and 1, every element written; something is legal if and only if a seat is to act."""
    before, mask = state.tobytes(), mask_of(game, state)
    require(np.array_equal(mask, mask_of(game, state, 0)), "elements of the mask aren't written")
    require(np.array_equal(mask, mask_of(game, state, 1)), "elements of the mask aren't written")
    require(mask.any() == (state.seat != OVER), f"{mask.sum()} actions of seat {state.seat}")
    require(state.tobytes() == before, "legal_actions changes the record")


def every_legal_action(game: Game, state: Record) -> None:
    """Each action of the mask leads to a position that the contract allows."""
    legal, before = np.flatnonzero(mask_of(game, state)), state.tobytes()
    after, again = (np.repeat(state.reshape(1), len(legal)) for _ in range(2))
    for row, action in enumerate(legal.tolist()):
        game.apply(after[row], action)
        game.apply(again[row], np.int64(action))
        over = after[row].seat == OVER
        require(mask_of(game, after[row]).any() != over, f"a dead end after action {action}")
        require((after[row].winners != 0) == over, f"no winners after action {action}")
        require(after[row].ply == state.ply + 1, f"action {action} isn't counted in ply")
        for name in kept(game):
            require((after[row][name] == state[name]).all(), f"action {action} changes {name}")
    require(after.tobytes() == again.tobytes(), "the same action leads to two positions")
    require(state.tobytes() == before, "actions on a copy change the record")


def can_be_finished(game: Game, state: Record) -> None:
    """Each legal action can be followed by others up to a lawful end."""
    legal = np.flatnonzero(mask_of(game, state))
    after = np.repeat(state.reshape(1), len(legal))
    for row, action in enumerate(legal.tolist()):
        game.apply(after[row], action)
    require((play_out(game, after)["winners"] != 0).all(), "an end without winners")


def observations(game: Game, state: Record) -> None:
    """Within their bounds, every element written, and the record as it was."""
    before = state.tobytes()
    for seat in range(int(state.num_players)):
        first = observation_of(game, state, seat)
        written = np.array_equal(first, observation_of(game, state, seat, 100))
        require(written, f"observe leaves elements as they were for seat {seat}")
        outside = _outside(game.observation, first)
        require(not outside, f"seat {seat} sees {outside}")
        if game.hidden is not None and game.reveal is not None:
            outs = [np.full(game.hidden.size, dirt, game.observation.dtype) for dirt in (101, 100)]
            for out in outs:
                game.reveal(state, seat, out)
            written = np.array_equal(outs[0], outs[1])
            require(written, f"reveal leaves elements as they were for seat {seat}")
            outside = _outside(game.hidden, outs[0])
            require(not outside, f"from seat {seat} is hidden {outside}")
    require(state.tobytes() == before, "observe changes the record")


def _outside(spec: ObservationSpec, flat: NDArray[Any]) -> str:
    """The first piece that is out of its bounds, or nothing."""
    for piece, where in zip(spec.pieces, spec.slices().values(), strict=True):
        part = flat[where]
        if (part < piece.low).any() or (part > piece.high).any():
            return f"{piece.name} in {part.min()}..{part.max()}, not {piece.low}..{piece.high}"
    return ""


def bytes_and_json(game: Game, state: Record) -> None:
    """`from_bytes` and `from_dict` give the record back; a seat's view is JSON without the seed."""
    data = state.tobytes()
    try:
        require(game.from_bytes(data).tobytes() == data, "from_bytes gives another record")
    except ValueError as error:
        raise AssertionError(f"from_bytes refuses it: {error}") from error
    whole = game.to_dict(state)
    require(json.loads(json.dumps(whole)) == whole, "to_dict isn't JSON data")
    require(game.from_dict(whole).tobytes() == data, "from_dict(to_dict) is another record")
    require(game.chosen_options(state) == whole["options"], "to_dict has other options")
    seen = game.to_dict(state, int(state.ply) % int(state.num_players))
    require("seed" not in seen, "to_dict of a seat has the seed")
    require(json.loads(json.dumps(seen)) == seen, "to_dict of a seat isn't JSON data")
    require(state.tobytes() == data, "to_dict changes the record")


def notation(game: Game, state: Record) -> None:
    """Every legal move has a text of its own that leads back to it; what is none is refused."""
    before, legal = state.tobytes(), np.flatnonzero(mask_of(game, state)).tolist()
    texts = [game.action_to_text(state, action) for action in legal]
    require(len(set(texts)) == len(texts), f"two legal moves are written the same: {shown(texts)}")
    for action, text in zip(legal, texts, strict=True):
        back = game.text_to_action(state, text)
        require(back == action, f"action {action} is {text!r}, which is action {back}")
    require(state.tobytes() == before, "the notation changes the record")
    for number in (-1, game.num_actions):
        _refuses(game.action_to_text, state, number)
    for words in ("", "no such move"):
        _refuses(game.text_to_action, state, words)


def _refuses(function: Callable[..., Any], state: Record, value: Any) -> None:
    try:
        found = function(state, value)
    except ValueError:
        return
    raise AssertionError(f"{value!r} is no move, but is accepted as {found!r}")


def drawings(game: Game, state: Record) -> None:
    """Text for everyone and for each seat, and SVG."""
    for seat in (None, *range(int(state.num_players))):
        require(isinstance(game.draw_text(state, seat), str), "draw_text gives no text")
        require(game.draw_svg(state, seat).startswith("<svg"), "draw_svg gives no SVG")


def redealing(game: Game, state: Record, seat: int) -> Record:
    """A redealt world looks the same to its seat, and depends on what it can see and the seed.

    Returns one.
    """
    before = state.tobytes()
    world, again = clone(state), clone(state)
    game.redeal(world, seat, np.uint64(77))
    game.redeal(again, seat, np.uint64(77))
    require(again.tobytes() == world.tobytes(), "redeal isn't a function of the seed")
    require(world.seed == 77, "redeal keeps the seed, which all later chance comes from")
    looks_the_same(game, state, world, seat)
    game.redeal(world, seat, np.uint64(98))
    game.redeal(again := clone(state), seat, np.uint64(98))
    require(again.tobytes() == world.tobytes(), "redeal depends on what the seat can't see")
    looks_the_same(game, state, world, seat)
    require(state.tobytes() == before, "redeal of a copy changes the record")
    try:
        game.from_bytes(world.tobytes())
    except ValueError as error:
        raise AssertionError(f"from_bytes refuses a redealt world: {error}") from error
    require(game.from_dict(game.to_dict(world)).tobytes() == world.tobytes(), "JSON of a world")
    return world


def worlds(game: Game, state: Record, seat: int) -> None:
    """A redealt world is drawn the same for its seat, and can be played to an end."""
    world = redealing(game, state, seat)
    require(game.draw_text(world, seat) == game.draw_text(state, seat), f"text shows {seat} more")
    require(game.draw_svg(world, seat) == game.draw_svg(state, seat), f"SVG shows {seat} more")
    require((play_out(game, world.reshape(1))["winners"] != 0).all(), "an end without winners")


def looks_the_same(game: Game, state: Record, world: Record, seat: int) -> None:
    """A seat can't tell the two apart: by observation, mask, moves, header or JSON."""
    here, there = (observation_of(game, one, seat) for one in (state, world))
    require(np.array_equal(here, there), f"seat {seat} observes what it can't know")
    if state.seat == seat:
        mask = mask_of(game, state)
        require(np.array_equal(mask, mask_of(game, world)), f"the mask shows seat {seat} more")
        for action in np.flatnonzero(mask).tolist():
            text = game.action_to_text(state, action)
            same = game.action_to_text(world, action) == text
            require(same and game.text_to_action(world, text) == action, f"another move {text!r}")
    for name in kept(game) - {"seed"} | {"seat", "ply", "winners"}:
        require(world[name] == state[name], f"redeal changes {name}")
    require(game.to_dict(world, seat) == game.to_dict(state, seat), f"JSON shows seat {seat} more")


def appraisal(game: Game, state: Record) -> None:
    """`appraise`, where a game has it, is a number."""
    if game.appraise is not None and state.seat != OVER:
        value = kernels(game).rules["appraise"](state, clone(state), int(state.seat))
        require(np.isfinite(value), f"appraise gives {value}")


# Of the environments: the game is known by its name


def environments(game: Game, num_players: int, options: dict[str, Any], seed: int) -> None:
    """A vector game is the AEC game of its seed, bit for bit, and its record replays it."""
    vec = VecEnv(game.name, 3, num_players, **options)
    now = vec.reset(seed=seed)
    played: list[list[int]] = [[], [], []]
    states: list[list[bytes]] = [[vec.states[i].tobytes()] for i in range(3)]
    left = {0, 1, 2}
    while left:
        actions = [choose(now.action_mask[i], seed, 3 * len(played[i]) + i) for i in range(3)]
        now = vec.step(actions)
        for i in sorted(left):
            played[i].append(actions[i])
            if not now.done[i]:
                states[i].append(vec.states[i].tobytes())
                continue
            left.remove(i)
            rewards, env = now.reward[i].tolist(), GameEnv(game.name, num_players, **options)
            env.reset(seed=vec.seed_of(i, 0))
            for ply, action in enumerate(played[i]):
                require(env.get_state() == states[i][ply], "AEC and vector games differ")
                env.step(action)
            require(all(env.terminations.values()), "an AEC game goes on behind the vector game")
            require(list(env.rewards.values()) == rewards, "AEC and vector rewards differ")
            record = env.record()
            again = GameRecord.from_dict(json.loads(json.dumps(record.to_dict())))
            require(again == record, "a record is another one when it is read")
            *_, end = again.replay()
            require(end.tobytes() == env.get_state(), "a record leads to another end")
