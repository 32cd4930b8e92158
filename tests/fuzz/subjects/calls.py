"""Environments of every kind, used rightly and wrongly in random order."""

import copy
import pickle
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import linkzoo
from linkzoo import GameEnv, SeatEnv, VecEnv, get_game
from linkzoo.engine.threads import MAX_THREADS
from tests.common.play import snapshot
from tests.fuzz import positions
from tests.fuzz.dice import Dice, any_value, short

_LARGE = 10_000  # games in lock-step that only take memory


def warm(game: str, folder: Path) -> None:
    """Compiles the rules and the kernels of vectors."""
    positions.warm(game)
    vec = VecEnv(game, 2)
    vec.step(vec.reset().action_mask.argmax(1))
    seat = SeatEnv(game)
    seat.reset(seed=0)
    seat.step(int(seat.action_masks().argmax()))


def attempt(dice: Dice, game: str, folder: Path) -> bool:
    """One environment, made and used."""
    return dice.pick([_single, _single, _vector, _seat, _constructor])(dice, game)


def _refused(dice: Dice, what: str, call: Callable[[], Any]) -> bool:
    """Whether the call raised what a wrong call raises."""
    dice.note(what)
    try:
        call()
    except ValueError:
        return True
    except RuntimeError as error:
        if "reset()" not in str(error):
            raise
        return True
    except KeyError as error:  # of agents, as in PettingZoo
        if "player_0" not in str(error):  # names what is allowed
            raise
        return True
    return False


def _constructor(dice: Dice, game: str) -> bool:
    """A wrong argument, or several; what was made can be reset."""
    variant = dice.pick(positions.variants(game)[:6])
    kind = dice.pick([GameEnv, VecEnv, SeatEnv])
    arguments: dict[str, Any] = {"num_players": variant.num_players, **variant.options}
    more = {
        GameEnv: ["reward", "illegal", "render_mode"],
        VecEnv: ["num_envs", "device", "reward", "num_threads"],
        SeatEnv: ["seat", "reward", "illegal", "render_mode"],
    }[kind]
    if kind is VecEnv:
        arguments["num_envs"] = 2
    fields = list(get_game(game).options.__dataclass_fields__)
    for _ in range(1 + dice.below(2)):
        name = dice.pick(["num_players", "game", *fields, *more])
        value = any_value(dice)
        if name == "num_envs" and isinstance(value, int | np.integer) and value > _LARGE:
            continue  # as many as memory holds
        arguments[name] = value
    dice.note(f"{kind.__name__} {short(arguments)}")
    name = arguments.pop("game", game)
    made: Any = None

    def make() -> None:
        nonlocal made
        made = kind(name, **arguments)

    if _refused(dice, f"{kind.__name__} of {short(name)}, {short(arguments)}", make):
        return False
    made.reset(seed=1)
    return True


def _single(dice: Dice, game: str) -> bool:
    """A game with wrong calls between the moves, each of which leaves everything as it was."""
    variant, state = positions.position(dice, game)
    illegal = dice.pick(["raise", "terminate"])
    env = variant.env(illegal=illegal, render_mode=dice.pick([None, "ansi", "svg"]))
    if dice.chance(0.9):
        env.reset(seed=dice.below(2**53))
    if dice.chance(0.5):
        env.set_state(state.tobytes())
    done = False
    for _ in range(6):
        started = bool(env.agents)
        before = snapshot(env) if started else None
        wrong = any_value(dice)
        agent = wrong if dice.chance(0.7) else dice.pick(env.possible_agents)
        calls = _calls(env, wrong, agent)
        name = dice.pick(list(calls))
        if name == "step" and illegal == "terminate" and isinstance(wrong, int | np.integer):
            continue
        if _refused(dice, f"{name}({short(wrong)})", calls[name]):
            assert before is None or snapshot(env) == before, f"{name} changed the environment"
        else:
            done = True
        env = dice.pick([env, env.clone(), copy.deepcopy(env), pickle.loads(pickle.dumps(env))])
        if env.agents and not env.terminations[env.agent_selection]:
            legal = np.flatnonzero(env.infos[env.agent_selection]["action_mask"])
            env.step(
                dice.pick([int, np.int8 if legal[0] < 128 else np.int16, np.uint64])(
                    legal[0] if legal[0] < 128 else legal[-1]
                )
            )
    return done


def _calls(env: GameEnv, wrong: Any, agent: Any) -> dict[str, Callable[[], Any]]:
    """Every public method, with a wrong argument or with an agent that may be wrong."""
    return {
        "step": lambda: env.step(wrong),
        "reset seed": lambda: env.reset(seed=wrong),
        "reset options": lambda: env.reset(seed=1, options=wrong),
        "reset state": lambda: env.reset(seed=1, options={"state": wrong}),
        "set_state": lambda: env.set_state(wrong),
        "observe": lambda: env.observe(agent),
        "observation_space": lambda: env.observation_space(agent),
        "action_space": lambda: env.action_space(agent),
        "to_dict": lambda: env.to_dict(agent),
        "action_to_text": lambda: env.action_to_text(wrong),
        "text_to_action": lambda: env.text_to_action(wrong),
        "render": env.render,
        "record": lambda: env.record().to_dict(),
        "from_bytes": lambda: env.game.from_bytes(wrong),
        "from_dict": lambda: env.game.from_dict(wrong),
        "blank players": lambda: env.game.blank(wrong),
        "blank options": lambda: env.game.blank(None, wrong),
        "get_game": lambda: get_game(wrong),
        "get_game options": lambda: get_game(env.game.name, wrong),
        "make": lambda: linkzoo.make(wrong),
    }


def _vector(dice: Dice, game: str) -> bool:
    """Games in lock-step: wrong calls change nothing, copies and threads show the same."""
    variant = dice.pick([v for v in positions.variants(game) if v.game is get_game(game)])
    count, seed = 1 + dice.below(6), dice.below(2**53)
    threads = dice.pick([None, 1, MAX_THREADS])
    vec = VecEnv(game, count, variant.num_players, num_threads=threads, **variant.options)
    done = False
    if dice.chance(0.9):
        vec.reset(seed)
    for _ in range(6):
        wrong: Any = any_value(dice)
        if dice.chance(0.5):
            wrong = [any_value(dice) if dice.chance(0.5) else 0 for _ in range(count)]
        kind = dice.pick(["step", "step", "reset", "seed_of"])
        calls: dict[str, Callable[[], Any]] = {
            "step": partial(vec.step, wrong),
            "reset": partial(vec.reset, wrong),
            "seed_of": partial(vec.seed_of, wrong, 0),
        }
        before = _shown(vec)
        warnings.filterwarnings("ignore", "Warning: converting a masked element")  # NumPy's
        if _refused(dice, f"VecEnv.{kind}({short(wrong)})", calls[kind]):
            assert _shown(vec) == before, f"VecEnv.{kind} changed the games"
        else:
            done = True
        if not vec._started:
            vec.reset(seed)
        way = dice.below(4)
        other = copy.deepcopy(vec) if way == 0 else pickle.loads(pickle.dumps(vec))
        dice.note(f"VecEnv {'copied' if way == 0 else 'pickled'}, then stepped")
        actions = vec._now.action_mask.argmax(1)
        seen = [one.step(actions) for one in (vec, other)]
        for name in vars(seen[0]):
            one, two = (getattr(step, name) for step in seen)
            assert np.array_equal(one, two), f"a copy of a VecEnv shows another {name}"
    return done


def _shown(vec: VecEnv) -> tuple[Any, ...]:
    arrays = (vec.states, vec.episodes, *vars(vec._now).values())
    return (int(vec._seed[0]), vec._started, *(array.tobytes() for array in arrays))


def _seat(dice: Dice, game: str) -> bool:
    """One seat, with wrong calls between."""
    variant = dice.pick([v for v in positions.variants(game) if v.game is get_game(game)])
    seat = dice.pick([None, *range(variant.num_players)])
    env = SeatEnv(game, variant.num_players, seat=seat, illegal="raise", **variant.options)
    done, over = False, True
    for _ in range(4):
        if over:
            env.reset(seed=dice.below(2**53))
        before = (env.agent, env.env.get_state())
        wrong = any_value(dice)
        ways: list[Callable[[], Any]] = [
            partial(env.step, wrong),
            partial(env.reset, seed=wrong),
            partial(env.reset, seed=1, options=wrong),
        ]
        if _refused(dice, f"SeatEnv({short(wrong)})", dice.pick(ways)):
            after = (env.agent, env.env.get_state())
            assert after == before, "a refused call changed the game or the seat"
        else:
            done = True
        if not env.env.terminations[env.agent]:
            over = env.step(int(env.action_masks().argmax()))[2]
        else:
            over = True
    return done
