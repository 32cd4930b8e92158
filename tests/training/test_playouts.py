"""`linear:N` and action policies with `:N`: playouts by a linear scorer before each decision."""

from dataclasses import replace

import numpy as np
import pytest

from linkzoo import Positions, get_game, make_vec
from linkzoo.engine.rng import STREAM_SEARCH, random_u64
from linkzoo_training.agents.linear import LinearAgent, shipped_critic
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.playouts import PlayoutAgent
from linkzoo_training.agents.policy import SearchAgent, load_agent
from linkzoo_training.agents.policy_playouts import PolicyPlayoutAgent, began_as_scorer
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.evaluation.labelled_positions import read_labelled_positions
from linkzoo_training.evaluation.match import play_match
from linkzoo_training.search import monte_carlo
from linkzoo_training.search.linear import NO_SCORER, Horizon, Scorer, action_spec


def midgame(count: int, target: int = 64) -> Positions:
    vec = make_vec("link_o", count, 3, target=target)
    now = vec.reset(3)
    for _ in range(12):
        now = vec.step(now.action_mask.argmax(1))
    return Positions(vec.game, vec.states, np.arange(count, dtype=np.uint64))


@pytest.mark.parametrize("name", ["linear:64", "mine.json:8", "some/linear.json"])
def test_names_are_read_and_written(name: str) -> None:
    spec = AgentSpec.parse(name)
    assert (spec.kind, str(spec)) == ("linear", name)
    assert spec.source == ("" if name == "linear:64" else name.partition(":")[0])


@pytest.mark.nightly  # quick: the others of this file
def test_playouts_find_better_actions() -> None:
    """In positions that the scorer's own labels judge, as `--labelled-positions` measures."""
    labels, scorer = read_labelled_positions("link_o"), LinearAgent()
    moves = slice(labels.counts[:200].sum())
    some = replace(
        labels,
        states=labels.states[:200],
        counts=labels.counts[:200],
        actions=labels.actions[moves],
        values=labels.values[moves],
    )
    searched, bare = (some.regrets(agent).mean() for agent in (PlayoutAgent(scorer, 128), scorer))
    assert searched < 0.95 * bare


@pytest.mark.nightly  # quick: the others of this file
def test_decisions_do_not_depend_on_the_batch_nor_on_the_match() -> None:
    """A playout ends with the round, whatever the match needs."""
    agent, positions = make_agent("linear:24", "link_o"), midgame(12)
    actions = agent.act(positions)
    assert positions.action_mask[np.arange(12), actions].all()
    for i in (0, 7):
        alone = Positions(positions.game, positions.states[i : i + 1], positions.seeds[i : i + 1])
        assert agent.act(alone) == actions[i : i + 1]
    assert (agent.act(midgame(12, target=0)) == actions).all()
    assert (positions.states["target"] == 64).all()


@pytest.mark.slow
def test_sure_choices_take_no_playouts(monkeypatch: pytest.MonkeyPatch) -> None:
    played = list[int]()
    play = monte_carlo.action_values(get_game("link_o"), linear=True)

    def counted(states: np.ndarray, seeds: np.ndarray, playouts: np.ndarray, *rest: object) -> None:
        masks = rest[3]
        assert isinstance(masks, np.ndarray)
        assert rest[0] == 8.0  # of margins: the round ends, not the match
        played.append(int((playouts * masks.sum(1)).sum()))
        play(states, seeds, playouts, *rest)

    monkeypatch.setattr("linkzoo_training.agents.playouts.action_values", lambda *_, **__: counted)
    positions = midgame(40)
    scores, best = LinearAgent().scores(positions)
    near = (scores > scores.max(1, keepdims=True) - 4).sum(1)
    actions = make_agent("linear:24", "link_o").act(positions)
    assert (actions[near == 1] == best[near == 1]).all()
    assert 0 < sum(played) <= 24 * (near > 1).sum() + near[near > 24 // 2].sum()


def test_playouts_have_a_range() -> None:
    with pytest.raises(ValueError, match="simulations"):
        make_agent("linear:0", "link_o")


@pytest.mark.slow
def test_without_a_critic_margins_are_the_result() -> None:
    """After so many plies of the scorer, in a world that the seat can't tell from the real one."""
    game = get_game("love_links")
    agent = LinearAgent()
    vec = make_vec("love_links", 6, 3)
    now = vec.reset(5)
    for _ in range(20):
        now = vec.step(now.action_mask.argmax(1))
    positions = Positions(game, vec.states, np.arange(6, dtype=np.uint64))
    masks = positions.action_mask
    values = np.empty(masks.shape, np.float32)
    play = monte_carlo.action_values(game, linear=True)
    horizon = Horizon(3, NO_SCORER)
    scorer, once = agent.scorer(game), np.ones(6, np.int64)
    play(vec.states, positions.seeds, once, 0.5, scorer, horizon, masks, values)
    assert (values[masks == 0] == 0).all()
    for i, seat in enumerate(vec.states["seat"].tolist()):
        action = int(masks[i].argmax())
        world = vec.states[i : i + 1].copy()
        seed = np.uint64(random_u64(positions.seeds[i], STREAM_SEARCH, 0))
        game.determinize(world[0], seat, seed)
        game.rules.apply(world[0], action)
        for _ in range(3):
            (then,) = agent.act(Positions(game, world, np.zeros(1, np.uint64))).tolist()
            game.rules.apply(world[0], then)
        margins = np.empty(3, np.float32)
        game.score_margins(world[0], margins)
        assert values[i, action] == 0.5 * margins[seat]


@pytest.mark.slow
def test_few_playouts_beat_the_scorer_alone() -> None:
    """In Love Links, where what the next turns bring decides."""
    searched = make_agent("linear:16", "love_links")
    share = play_match("love_links", searched, LinearAgent(), 20, num_players=2).win_share()
    assert share.low > 0.5


@pytest.mark.slow
def test_a_policy_that_began_as_a_scorer_searches_by_playouts() -> None:
    """Its shares are those of the playouts, its values those of the policy."""
    agent = make_agent("love_links_action:12", "love_links")
    assert isinstance(agent, PolicyPlayoutAgent)
    assert agent.name == "love_links_action:12"
    vec = make_vec("love_links", 32, 2)
    now = vec.reset(5)
    for _ in range(16):
        now = vec.step(now.action_mask.argmax(1))
    positions = Positions(vec.game, vec.states, np.arange(32, dtype=np.uint64))
    played = agent.play(positions)
    assert (played.counts.sum(1) > 0).any()
    assert (played.counts[positions.action_mask == 0] == 0).all()
    assert (agent.act(positions) == played.actions).all()
    shares, values = agent.distribution(positions)
    np.testing.assert_allclose(shares.sum(1), 1, rtol=1e-6)
    assert (shares.argmax(1) == played.actions).all()
    assert (values == agent.policy.distribution(positions)[1]).all()
    first, by_seat, counts = agent.analyse(positions)
    assert (first == shares[0]).all()
    assert (counts == played.counts[0]).all()
    assert by_seat[int(vec.states["seat"][0])] == values[0, 0].clip(-1, 1)


def test_a_policy_that_continues_one_searches_like_it() -> None:
    policy = load_agent("love_links_action")
    config = policy.card["trained"]["config"]
    continued = {"config": {**config, "initial_scorer": None}}
    policy.card = {
        **policy.card,
        "trained": {**continued, "initial_checkpoint": policy.card["trained"]},
    }
    assert began_as_scorer(policy)
    policy.card = {**policy.card, "trained": continued}
    assert not began_as_scorer(policy)


def test_a_search_by_playouts_has_no_temperature() -> None:
    with pytest.raises(ValueError, match="plays the best candidate: leave out ~2"):
        make_agent("love_links_action~2:12", "love_links")


def test_other_policies_search_a_tree() -> None:
    assert isinstance(make_agent("linkage_ppo:2", "linkage"), SearchAgent)


@pytest.mark.slow
def test_a_critic_ends_playouts_at_a_later_turn_of_the_seat() -> None:
    """Nobody is out within 14 plies of three players, so nothing but the critic counts."""
    game, scorer = get_game("link_o"), LinearAgent().scorer(get_game("link_o"))
    vec = make_vec("link_o", 4, 3, target=0)
    vec.reset(5)
    positions = Positions(game, vec.states, np.arange(4, dtype=np.uint64))
    masks, values = positions.action_mask, np.empty((2, *positions.action_mask.shape), np.float32)
    weights = np.zeros_like(scorer.weights)
    weights[[part.name for part in action_spec(game).parts].index("num_players"), 0] = 0.5
    play = monte_carlo.action_values(game, linear=True)
    for value, critic in zip(
        values, (Scorer(scorer.context, weights), shipped_critic(game)), strict=True
    ):
        horizon = Horizon(14, critic)
        play(vec.states, positions.seeds, np.full(4, 8), 8.0, scorer, horizon, masks, value)
    assert (values[0] == 1.5 * masks).all()
    assert (np.abs(values[1][masks > 0]) < 2 * 8).all()
    assert values[1][masks > 0].std() > 0.1
