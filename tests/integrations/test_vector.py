"""One seat of many games in lock-step: the same games as one at a time."""

from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import NormalizeObservation, RecordEpisodeStatistics
from numpy.typing import NDArray

import linkzoo
from linkzoo import Positions, SeatEnv
from linkzoo.integrations import FeatureSeatEnv, FeatureSeatVectorEnv, SeatVectorEnv
from tests.common.variants import ONE, Variant, every_size

GAMES = 6


class First:
    """Plays the first legal action; notes how many positions it was asked about at once."""

    name = "first"

    def __init__(self) -> None:
        self.asked: list[int] = []

    def act(self, positions: Positions) -> NDArray[np.int64]:
        self.asked.append(len(positions))
        chosen: NDArray[np.int64] = positions.action_mask.argmax(1)
        positions.action_mask[:] = 1  # nobody's but its own
        return chosen


def build(variant: Variant, **kwargs: Any) -> SeatVectorEnv:
    return SeatVectorEnv(variant.name, GAMES, variant.num_players, **kwargs, **variant.options)


def last_legal(mask: NDArray[np.int8]) -> NDArray[np.int64]:
    chosen: NDArray[np.int64] = mask.shape[1] - 1 - mask[:, ::-1].argmax(1)
    return chosen


@every_size
def test_the_games_are_those_of_one_environment(variant: Variant) -> None:
    """Observations, masks, rewards and ends, for two games in each row, from any seat."""
    opponent = First()
    vec = build(variant, seat=None, opponent=opponent)
    seen, infos = vec.reset(seed=7)
    seats = {int(seat) for seat in vec.seats}
    twins: list[Any] = []
    for i in range(GAMES):
        twins.append(begin(variant, vec, i, 0))
        assert (twins[i].env.observe(twins[i].agent)["observation"] == seen[i]).all()
    finished = np.zeros(GAMES, np.int64)
    while finished.min() < 2:
        assert vec.observation_space.contains(seen)
        assert (vec.action_masks() == infos["action_mask"]).all()
        actions = last_legal(infos["action_mask"])
        seen, reward, over, truncated, infos = vec.step(actions)
        assert not truncated.any()
        for i, twin in enumerate(twins):
            last, twin_reward, twin_over, _, _ = twin.step(int(actions[i]))
            assert (over[i], reward[i]) == (twin_over, pytest.approx(twin_reward))
            if twin_over:
                assert (infos["final_obs"][i] == last).all()
                assert not infos["final_info"]["action_mask"][i].any()
                finished[i] += 1
                twins[i] = begin(variant, vec, i, int(vec._episodes[i]) - 1)
                seats.add(int(vec.seats[i]))
                last = twins[i].env.observe(twins[i].agent)["observation"]
            assert (seen[i] == last).all()
            assert (infos["action_mask"][i] == twins[i].action_masks()).all()
        assert (infos.get("_final_obs", np.zeros(GAMES)) == over).all()
    assert len(seats) > 1
    assert max(opponent.asked) > 1


def begin(variant: Variant, vec: SeatVectorEnv, index: int, episode: int) -> SeatEnv:
    """The game that a row begins, as an environment of its own."""
    twin = SeatEnv(
        variant.name,
        variant.num_players,
        seat=int(vec.seats[index]),
        opponent=First(),
        **variant.options,
    )
    twin.reset(seed=vec.seed_of(index, episode))
    return twin


@pytest.mark.parametrize("variant", ONE, ids=str)
def test_runs_repeat(variant: Variant) -> None:
    def run(seed: int | None) -> bytes:
        _, infos = vec.reset(seed=seed)
        played = b""
        for _ in range(20):
            played += vec.states.tobytes()
            infos = vec.step(infos["action_mask"].argmax(1))[-1]
        return played

    vec = build(variant, seat=None)
    first = run(3)
    after = run(None)
    assert first == run(3)
    assert after == run(None)
    assert first != run(4)


@pytest.mark.parametrize("variant", ONE, ids=str)
def test_each_game_has_its_seed(variant: Variant) -> None:
    """`reset(seed=[...])`: game i is SeatEnv's of that seed, as in gymnasium's environments."""
    vec, seeds = build(variant, opponent=First()), [9, 2**64 - 1, 0, 5, 5, 7]
    for given in (seeds, tuple(seeds), np.array(seeds, np.uint64)):
        seen, _ = vec.reset(seed=given)  # type: ignore[arg-type]  # arrays are taken, too
        assert [vec.seed_of(i, 0) for i in range(GAMES)] == seeds
        for i, seed in enumerate(seeds):
            twin = SeatEnv(variant.name, variant.num_players, opponent=First(), **variant.options)
            assert (seen[i] == twin.reset(seed=seed)[0]).all()
    later = [vec.seed_of(i, 1) for i in range(GAMES)]
    assert len(set(later)) == GAMES
    vec.reset(options={"reset_mask": np.ones(GAMES, np.bool_)})
    assert vec.states["seed"].tolist() == later
    vec.reset(seed=9)
    assert vec.seed_of(0, 0) != 9


@pytest.mark.parametrize(
    "seed", [[1, 2], [1, 2, 3, 4, 5, None], [-1] * 6, [True] * 6, "123456", 1.0]
)
def test_wrong_seeds_are_named(seed: Any) -> None:
    with pytest.raises(ValueError, match="seed: "):
        build(ONE[0]).reset(seed=seed)


def play_on(vec: Any, steps: int) -> list[tuple[Any, ...]]:
    """Plays the first legal actions; without one, action 0."""
    _, infos = vec.reset(seed=3)
    played: list[tuple[Any, ...]] = []
    for _ in range(steps):
        played.append(vec.step(infos["action_mask"].argmax(1)))
        infos = played[-1][-1]
    return played


@every_size
def test_games_restart_in_the_next_step(variant: Variant) -> None:
    """NEXT_STEP: the same games; an end is shown, and the step after it only begins the next."""
    vec = build(variant, opponent=First(), autoreset_mode=AutoresetMode.NEXT_STEP)
    twin, length = build(variant, opponent=First()), int(vec.game.facts.max_length) // 2
    assert vec.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert twin.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    games: tuple[list[Any], list[Any]] = ([], [])
    ends, before = 0, np.zeros(GAMES, np.bool_)
    for seen, reward, over, truncated, infos in play_on(vec, min(2 * length, 120)):
        assert vec.observation_space.contains(seen)
        assert not truncated.any()
        assert not (over & before).any()
        assert (reward[before] == 0).all()
        assert (infos["action_mask"].any(1) == ~over).all()
        assert "final_obs" not in infos
        if not before[0]:
            games[0].append((bytes(seen[0]), reward[0], bool(over[0])))
        ends, before = ends + int(over.sum()), over
    for seen, reward, over, _, infos in play_on(twin, min(2 * length, 120)):
        shown = infos["final_obs"][0] if over[0] else seen[0]
        games[1].append((bytes(shown), reward[0], bool(over[0])))
    assert ends > 0
    assert games[1][: len(games[0])] == games[0]


def test_a_forfeited_game_restarts_in_the_next_step() -> None:
    vec = build(ONE[0], autoreset_mode=AutoresetMode.NEXT_STEP)
    _, infos = vec.reset(seed=1)
    actions = infos["action_mask"].argmax(1)
    actions[2] = infos["action_mask"][2].argmin()
    _, reward, over, _, infos = vec.step(actions)
    assert (over[2], reward[2], infos["action_mask"][2].any()) == (True, -1, False)
    vec.step(infos["action_mask"].argmax(1))
    assert vec.states["seed"][2] == vec.seed_of(2, 1)
    with pytest.raises(ValueError, match=r"autoreset_mode='Disabled' is not one of"):
        build(ONE[0], autoreset_mode=AutoresetMode.DISABLED)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_gymnasiums_wrappers(mode: AutoresetMode) -> None:
    """Statistics are those of the games; normalising needs NEXT_STEP, and says so."""
    keywords: Any = {"opponent": First(), "board_size": 3, "threshold": 3, "autoreset_mode": mode}
    vec = FeatureSeatVectorEnv("linkage", GAMES, **keywords)
    wrapped: Any = RecordEpisodeStatistics(vec)
    # Before 1.4 it took SAME_STEP for NEXT_STEP: it missed the first step of later games.
    old = tuple(map(int, gymnasium.__version__.split(".")[:2])) < (1, 4)
    missed = np.zeros(GAMES, np.int64)
    lengths: list[int] = []
    current = np.zeros(GAMES, np.int64)
    fresh = np.zeros(GAMES, np.bool_)
    for _, reward, over, _, infos in play_on(wrapped, 20):
        current += ~fresh
        assert (infos.get("_episode", np.zeros(GAMES, np.bool_)) == over).all()
        if over.any():
            assert (infos["episode"]["r"][over] == reward[over]).all()
            assert infos["episode"]["l"][over].tolist() == (current - missed)[over].tolist()
            missed[over] = old and mode is AutoresetMode.SAME_STEP
            lengths += current[over].tolist()
            current[over] = 0
        fresh = over if mode is AutoresetMode.NEXT_STEP else fresh
    assert len(lengths) >= GAMES
    vec = FeatureSeatVectorEnv("linkage", GAMES, **keywords)
    if mode is AutoresetMode.SAME_STEP:
        with pytest.raises(
            AssertionError if old else ValueError, match=None if old else "NEXT_STEP"
        ):
            NormalizeObservation(vec)
        return
    normal: Any = NormalizeObservation(vec)
    seen = np.concatenate([step[0] for step in play_on(normal, 200)])
    assert np.isfinite(seen).all()
    assert np.abs(seen[-600:].mean(0)).max() < 0.5
    assert 0.5 < seen[-600:].std(0).max() < 1.5


@every_size
def test_some_games_restart(variant: Variant) -> None:
    vec = build(variant, seat=1)
    _, infos = vec.reset(seed=1)
    for _ in range(3):
        infos = vec.step(infos["action_mask"].argmax(1))[-1]
    before, plies = vec.states.copy(), vec.states["ply"].copy()
    chosen = np.arange(GAMES) % 2 == 0
    seen, _ = vec.reset(options={"reset_mask": chosen})
    assert (vec.states[~chosen] == before[~chosen]).all()
    assert (vec.states["ply"][chosen] < plies[chosen]).all()
    assert (vec.states["seat"] == 1).all()
    assert len(seen) == GAMES


@every_size
def test_some_games_step(variant: Variant) -> None:
    vec, twin = build(variant, opponent=First()), build(variant, opponent=First())
    _, infos = vec.reset(seed=1)
    twin.reset(seed=1)
    actions = infos["action_mask"].argmax(1)
    twin.step(actions)
    vec.step(actions[[4, 1]], rows=[4, 1])
    stepped = np.isin(np.arange(GAMES), [1, 4])
    assert (vec.states[stepped] == twin.states[stepped]).all()
    assert (vec.states[~stepped] != twin.states[~stepped]).all()
    with pytest.raises(ValueError, match=r"not integers \[2\]"):
        vec.step(actions, rows=[4, 1])
    with pytest.raises(ValueError, match="environment 4: action -1 is not"):
        vec.step([-1], rows=[4])


def test_wrong_masks_of_games_to_restart_are_refused() -> None:
    vec = build(ONE[0])
    chosen = np.ones(GAMES, np.bool_)
    with pytest.raises(RuntimeError, match="reset_mask before reset"):
        vec.reset(options={"reset_mask": chosen})
    vec.reset(seed=1)
    for wrong in (chosen[:2], chosen.astype(int), ~chosen):
        with pytest.raises(ValueError, match=rf"not bool\[{GAMES}\]"):
            vec.reset(options={"reset_mask": wrong})
    with pytest.raises(ValueError, match="give no seed"):
        vec.reset(seed=1, options={"reset_mask": chosen})


@every_size
def test_illegal_actions(variant: Variant) -> None:
    """Raised before any game has moved, or they end their game with -1."""
    strict, lenient = build(variant, illegal="raise"), build(variant)
    for vec in (strict, lenient):
        seen, infos = vec.reset(seed=5)
        actions = infos["action_mask"].argmax(1)
        wrong = int(infos["action_mask"][2].argmin())
        assert not infos["action_mask"][2, wrong]
        actions[2] = wrong
    before = strict.states.tobytes()
    with pytest.raises(ValueError, match=rf"environment 2: action {wrong} \(.*\) is illegal"):
        strict.step(actions)
    assert strict.states.tobytes() == before
    _, reward, over, _, infos = lenient.step(actions)
    assert over[2]
    assert reward[2] == -1
    assert (infos["final_obs"][2] == seen[2]).all()
    assert lenient.states["seed"][2] == lenient.seed_of(2, 1)


def test_bad_input_is_named() -> None:
    vec = SeatVectorEnv("linkage", 3)
    step = partial(vec.step, np.zeros(3, int))
    for call in (step, vec.action_masks, partial(vec.seed_of, 0, 0)):
        with pytest.raises(RuntimeError, match=r"^\w+ before reset: call reset\(\) first$"):
            call()
    vec.reset(seed=1)
    with pytest.raises(ValueError, match=r"not integers \[3\]"):
        vec.step(np.zeros(2, int))
    with pytest.raises(ValueError, match=r"environment 1: action -1 is not in 0\.\."):
        vec.step(np.array([0, -1, 0]))
    with pytest.raises(ValueError, match="illegal='no' is not one of"):
        SeatVectorEnv("linkage", 3, illegal="no")
    with pytest.raises(ValueError, match="seat"):
        SeatVectorEnv("linkage", 3, seat=2)


def test_illegal_actions_of_opponents_are_named() -> None:
    class Careless(First):
        def act(self, positions: Positions) -> NDArray[np.int64]:
            chosen: NDArray[np.int64] = positions.action_mask.argmin(1)
            return chosen

    with pytest.raises(ValueError, match=r"environment 0: first chose \d+, an illegal action"):
        SeatVectorEnv("linkage", 3, seat=1, opponent=Careless()).reset(seed=1)


@pytest.mark.parametrize("name", linkzoo.game_names())
def test_gymnasium_makes_it(name: str) -> None:
    title = "".join(word.capitalize() for word in name.split("_"))
    vec = gymnasium.make_vec(
        f"linkzoo/{title}-v0", 512, vectorization_mode="vector_entry_point", seat=1
    )
    assert isinstance(vec, SeatVectorEnv)
    assert vec.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    one = gymnasium.make(f"linkzoo/{title}-v0", seat=1)
    assert vec.single_observation_space == one.observation_space
    assert vec.single_action_space == one.action_space
    seen, infos = vec.reset(seed=1)
    assert vec.observation_space.contains(seen)
    assert vec.action_space.contains(infos["action_mask"].argmax(1))
    assert (vec.seats == 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["rgb_array", "ansi", "svg", "human"])
def test_every_game_is_shown(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As the environment of one game shows it, through gymnasium's own entry points."""
    options: dict[str, Any] = {"board_size": 3, "threshold": 4, "render_mode": mode}
    vec = gymnasium.make_vec("linkzoo/Linkage-v0", 2, **options)
    assert isinstance(vec.unwrapped, SeatVectorEnv)
    assert (vec.render_mode, mode in vec.metadata["render_modes"]) == (mode, True)
    with pytest.raises(RuntimeError, match="render before reset"):
        vec.render()
    _, infos = vec.reset(seed=5)
    one = SeatEnv("linkage", **options)
    for actions in (infos["action_mask"].argmax(1), None):
        shown = vec.render()
        printed = [capsys.readouterr().out]
        frames = []
        for state in vec.unwrapped.states:
            one.env.reset(options={"state": state.tobytes()})
            frames.append(one.render())
        printed.append(capsys.readouterr().out)
        assert printed[0] == printed[1]
        if mode == "human":
            assert shown is None
        else:
            assert isinstance(shown, tuple)
            assert [type(frame) for frame in shown] == [type(frame) for frame in frames]
            assert all(np.array_equal(a, b) for a, b in zip(shown, frames, strict=True))
        if actions is not None:
            vec.step(actions)


def test_wrong_render_modes_are_named() -> None:
    with pytest.raises(ValueError, match="render_mode='film' is not one of"):
        gymnasium.make_vec("linkzoo/Linkage-v0", 2, render_mode="film")
    with pytest.raises(ValueError, match="no render_mode was given"):
        SeatVectorEnv("linkage", 2).render()


@every_size
@pytest.mark.parametrize("keys", [None, ("obs", "mask")])
def test_features(variant: Variant, keys: tuple[str, str] | None) -> None:
    kwargs: Any = {"keys": keys, **variant.options}
    vec = FeatureSeatVectorEnv(variant.name, GAMES, variant.num_players, **kwargs)
    one = FeatureSeatEnv(variant.name, variant.num_players, **kwargs)
    assert vec.single_observation_space == one.observation_space
    seen, infos = vec.reset(seed=1)
    over = np.zeros(1, np.bool_)
    while not over.any():
        assert vec.observation_space.contains(seen)
        if keys is not None:
            assert (seen["mask"] == infos["action_mask"]).all()
        seen, _, over, _, infos = vec.step(infos["action_mask"].argmax(1))
    assert one.observation_space.contains(infos["final_obs"][over.argmax()])
