"""Gumbel search: the paper's formulas, right moves where they are known, always repeatable."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from linkzoo import Game, Positions, game_names, get_game
from linkzoo.core.features import FeatureMap
from linkzoo.core.kernels import kernels
from linkzoo_training.agents.policy import PolicyAgent, SearchAgent
from linkzoo_training.networks.flat import make_network
from linkzoo_training.networks.inputs import Inputs
from linkzoo_training.networks.symmetries import symmetries
from linkzoo_training.search.evaluations import Evaluations
from linkzoo_training.search.gumbel import MIN_VALUE_RANGE, Evaluate, GumbelSearch
from linkzoo_training.search.gumbel_selection import sequence_of_considered_visits
from linkzoo_training.search.solver import side_solver, solver, successors
from tests.driving import first_quick
from tests.training.helpers import begin, midgame, value
from tests.training.toys import COIN, SURE, TABLE, backward_induction

LINKAGE = get_game("linkage")


def knows_nothing(game: Game) -> Evaluate:
    """A uniform policy, and values of 0."""
    return lambda features: (
        torch.zeros(len(features), game.num_actions),
        torch.zeros(len(features), game.max_players),
    )


def opinionated(game: Game, scale: float = 1.0) -> Evaluate:
    """Some policy and values in -1..1 that depend on the position."""
    rng = np.random.Generator(np.random.PCG64(3))
    width = game.num_actions + game.max_players
    weights = rng.normal(size=(len(FeatureMap(game.observation.spec)), width))

    def answer(features: NDArray[Any]) -> tuple[Tensor, Tensor]:
        out = np.sin(features @ weights)  # between -1 and 1
        tensors = torch.from_numpy(out.astype(np.float32))
        return scale * tensors[:, : game.num_actions], tensors[:, game.num_actions :]

    return answer


@pytest.mark.parametrize(
    ("considered", "simulations", "visits"),
    first_quick(
        [
            (16, 32, [4] * 4 + [2] * 4 + [1] * 8),  # 16 once, 8 once, 4 twice
            (4, 16, [6, 6, 2, 2]),  # 4 twice, 2 four times
            (1, 5, [5]),
            (8, 5, [1] * 5),
            (16, 200, [49, 49, 21, 21] + [9] * 4 + [3] * 8),
        ],
        4,
    ),
)
def test_sequential_halving(considered: int, simulations: int, visits: list[int]) -> None:
    """The counts by the schedule, and those in a tree."""
    schedule = sequence_of_considered_visits(considered, simulations)
    counts = [0] * considered
    for wanted in schedule:
        counts[counts.index(wanted)] += 1
    assert sorted(filter(None, counts), reverse=True) == visits
    search = GumbelSearch(Inputs(LINKAGE), 3, simulations, considered=considered)
    start = begin(LINKAGE, 3)
    search.run(start.states, start.seeds, opinionated(LINKAGE), gumbel_scale=1.0)
    for row in range(3):
        found = [count for _, count, _ in children(search, row)]
        assert sorted(found, reverse=True) == visits


def children(search: GumbelSearch, row: int) -> list[tuple[int, int, NDArray[np.float64]]]:
    """Action, visits and values by seat of the children of a root."""
    tree, totals = search._trees.nodes[row], search._trees.totals[row]
    entries, child = [], int(tree[0]["child"])
    while child >= 0:
        visits = int(tree[child]["visits"])
        entries.append((int(tree[child]["action"]), visits, totals[child] / visits))
        child = int(tree[child]["sibling"])
    return entries


class Reference:
    """The search of one position as the paper and mctx write it: dense arrays, no compiled code."""

    def __init__(self, game: Game, state: np.record, answer: Evaluate, simulations: int) -> None:
        self.game, self.answer, self.map = game, answer, FeatureMap(game.observation.spec)
        self.states = [game.from_bytes(state.tobytes())]
        self.next: list[dict[int, int]] = [{}]
        self.visits, self.totals = [1], []
        logits, values = self.evaluate(self.states[0])
        self.logits, self.raw = [logits], [values]
        self.totals = [values.copy()]
        legal = int((logits > -np.inf).sum())
        schedule = sequence_of_considered_visits(min(16, legal), simulations)
        for wanted in schedule:
            self.simulate(wanted)

    def evaluate(self, state: np.record) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Logits, and values or payoffs by seat."""
        game = self.game
        mask = np.zeros(game.num_actions, np.int8)
        if state.seat < 0:
            payoff = np.zeros(game.max_players, np.float32)
            game.payoffs(state, payoff)
            return np.full(game.num_actions, -np.inf), payoff.astype(np.float64)
        game.rules.legal_actions(state, mask)
        flat = np.zeros((1, game.observation.spec.size), game.observation.spec.dtype)
        game.observation.observe(state, state.seat, flat[0])
        logits, values = self.answer(self.map(flat))
        return (
            np.where(mask, logits[0].numpy().astype(np.float64), -np.inf),
            np.roll(values[0].numpy(), int(state.seat)).astype(np.float64),
        )

    def improved(self, node: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The logits of the improved policy, the visits and the completed values by seat."""
        actions, seats = self.game.num_actions, self.game.max_players
        visits, completed = np.zeros(actions), np.zeros((actions, seats))
        prior = softmax(self.logits[node])
        weighted = np.zeros(seats)
        for action, child in self.next[node].items():
            visits[action] = self.visits[child]
            completed[action] = self.totals[child] / self.visits[child]
            weighted += prior[action] * completed[action]
        seen = visits > 0
        if seen.any():
            weighted /= prior[seen].sum()
        mixed = (self.raw[node] + visits.sum() * weighted) / (1 + visits.sum())
        completed[~seen] = mixed
        legal = self.logits[node] > -np.inf
        own = completed[:, self.states[node].seat]
        low, high = own[legal].min(), own[legal].max()
        scaled = (own - low) / max(high - low, 1e-8)
        return self.logits[node] + (50 + visits.max()) * 0.1 * scaled, visits, completed

    def simulate(self, wanted: int) -> None:
        path, node = [0], 0
        while self.states[node].seat >= 0:
            logits, visits, _ = self.improved(node)
            if node == 0:
                action = int(np.where(visits == wanted, logits, -np.inf).argmax())
            else:
                action = int((softmax(logits) - visits / (1 + visits.sum())).argmax())
            new = action not in self.next[node]
            if new:
                after = self.game.from_bytes(self.states[node].tobytes())
                self.game.rules.apply(after, action)
                judged, values = self.evaluate(after)
                self.next[node][action] = len(self.states)
                self.states.append(after)
                self.next.append({})
                self.logits.append(judged)
                self.raw.append(values)
                self.visits.append(0)
                self.totals.append(np.zeros(self.game.max_players))
            node = self.next[node][action]
            path.append(node)
            if new:
                break
        for visited in path:
            self.visits[visited] += 1
            self.totals[visited] = self.totals[visited] + self.raw[node]


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    chances = np.exp(logits - logits.max())
    return np.asarray(chances / chances.sum())


@pytest.mark.parametrize(
    ("plies", "options"),
    first_quick([(8, {}), (1, {"board_size": 4, "threshold": 5}), (16, {})], slow=0),
)
def test_the_search_is_the_papers(plies: int, options: dict[str, Any]) -> None:
    """Visits, policy, values and the choice are those of the plain formulas."""
    check_by_the_formulas(midgame(LINKAGE, 4, plies, **options))


@pytest.mark.usefixtures("uncompiled")
def test_the_search_of_three_seats_is_the_papers() -> None:
    """One of them acts twice running."""
    check_by_the_formulas(begin(TABLE, 8))


def check_by_the_formulas(positions: Positions) -> None:
    game = positions.game
    answer, every = opinionated(game), len(positions)
    search = GumbelSearch(Inputs(game), every, 48, min_value_range=MIN_VALUE_RANGE)
    result = search.run(positions.states, positions.seeds, answer)
    for row, state in enumerate(positions.states):
        reference = Reference(game, state, answer, 48)
        logits, visits, completed = reference.improved(0)
        assert {action: count for action, count, _ in children(search, row)} == {
            action: int(visits[action]) for action in reference.next[0]
        }
        policy = softmax(logits)
        np.testing.assert_allclose(result.policy[row], policy, atol=1e-4)
        np.testing.assert_allclose(result.values[row], policy @ completed, atol=1e-4)
        best = np.where(visits == visits.max(), logits, -np.inf).argmax()
        assert result.actions[row] == best


@pytest.mark.nightly  # quick: the policy at the root above
def test_gumbel_noise_draws_from_the_policy() -> None:
    """One simulation goes to a draw from the policy (the Gumbel-max trick)."""
    start = begin(TABLE, 4000)
    logits = torch.tensor([[0.0, 1.0, 0.0]])

    def answer(features: NDArray[Any]) -> tuple[Tensor, Tensor]:
        return logits.expand(len(features), 3), torch.zeros(len(features), 3)

    search = GumbelSearch(Inputs(TABLE), 4000, 1)
    actions = search.run(start.states, start.seeds, answer, gumbel_scale=1.0).actions
    share = np.e / (1 + np.e)  # of action 1 among the two legal ones
    assert Counter(actions.tolist())[1] / 4000 == pytest.approx(share, abs=4 * 0.5 / 4000**0.5)
    assert set(search.run(start.states, start.seeds, answer).actions.tolist()) == {1}


def longest(game: Game, state: np.record) -> int:
    """Plies until the end, if all take as many as they can."""
    if state.seat < 0:
        return 0
    return 1 + max(longest(game, after) for after in successors(game, state).values())


@pytest.mark.parametrize(
    ("size", "threshold", "free_hole", "plies"),
    first_quick([(4, 6, True, 6), (4, 5, False, 4), (4, 6, False, 5), (5, 8, False, 8)], slow=0),
)
def test_finds_the_forced_win(size: int, threshold: int, free_hole: bool, plies: int) -> None:
    """One to three plies before the end, without help from the network; and its value.

    Further away the search trusts its first looks, and relies on the network.
    """
    options = {"board_size": size, "threshold": threshold, "free_hole": free_hole}
    positions = midgame(LINKAGE, 40, plies, **options)
    near = np.array([longest(LINKAGE, state) <= 3 for state in positions.states])
    states = positions.states[near]
    search = GumbelSearch(Inputs(LINKAGE), len(states), 400, considered=64)
    result = search.run(states, positions.seeds[near], knows_nothing(LINKAGE))
    decided = 0
    for row, state in enumerate(states):
        values = {
            move: value(LINKAGE, after, state.seat)
            for move, after in successors(LINKAGE, state).items()
        }
        if min(values.values()) < max(values.values()):
            decided += 1
            assert values[int(result.actions[row])] == 1
        assert np.sign(result.values[row, state.seat]) == max(values.values())
        assert result.values[row].sum() == pytest.approx(0, abs=1e-5)
    assert decided >= 8


@pytest.mark.parametrize("weight", first_quick([0.5, 0.0], slow=0))
def test_solved_roots_are_played_perfectly(weight: float) -> None:
    """By the best actions alone, as the network prefers among them; the value is the end's."""
    positions, exact, answer = midgame(LINKAGE, 20, 15), solver(LINKAGE), opinionated(LINKAGE)
    states = positions.states[positions.states["seat"] >= 0]
    search = GumbelSearch(
        Inputs(LINKAGE), len(states), 4, score_margin_weight=weight, solver_limit=10**6
    )
    result = search.run(states, positions.seeds[: len(states)], answer)
    seen = Positions(LINKAGE, states, positions.seeds[: len(states)]).observation
    features = FeatureMap(LINKAGE.observation.spec)(seen.reshape(len(states), -1))
    logits = answer(features)[0].double().numpy()
    for row, state in enumerate(states):
        score = exact.score(state)
        assert score is not None
        after = successors(LINKAGE, state)
        best = [action for action, one in after.items() if exact.score(one) == score]
        assert result.actions[row] == max(best, key=lambda action: logits[row, action])
        assert np.flatnonzero(result.policy[row]).tolist() == best
        expected = softmax(logits[row, best])
        np.testing.assert_allclose(result.policy[row, best], expected, atol=1e-5)
        margin = (score - 11.5) / 12.5  # of More, R10
        more = (1.0 if score >= 12 else -1.0) + weight * margin
        np.testing.assert_allclose(result.values[row], [more, -more], atol=1e-6)


@pytest.mark.slow  # quick: test_solved_roots_are_played_perfectly
def test_solved_leaves_are_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Below roots that aren't solved, children that can be solved have their exact value."""
    monkeypatch.setattr("linkzoo_training.search.gumbel.LEAF_SHARE", 1)
    limit, exact, checked = 400, solver(LINKAGE), Counter[bool]()
    side = side_solver(LINKAGE)
    positions = midgame(LINKAGE, 60, 14)
    search = GumbelSearch(Inputs(LINKAGE), 60, 16, solver_limit=limit)
    search.run(positions.states, positions.seeds, opinionated(LINKAGE))
    for row, state in enumerate(positions.states):
        after = successors(LINKAGE, state)
        if search._trees.solved[row]:
            continue
        for action, _, values in children(search, row):
            one = after[action]
            winner = exact.winner(one)
            solved = one.seat < 0 or side.finish(one, side.memory(1, limit), 0, limit)
            checked[solved] += 1
            if solved:
                assert values.tolist() == ([1.0, -1.0] if winner == state.more else [-1.0, 1.0])
    assert checked[True] > 40 < checked[False]


@pytest.mark.nightly  # quick: the search of three seats is the paper's
def test_every_seat_maximises_its_own_payoff() -> None:
    """Three seats, one of which acts twice running.

    Values that aren't stretched keep the search from settling on its first looks.
    """
    start = begin(TABLE, 300)
    search = GumbelSearch(Inputs(TABLE), 300, 2000, min_value_range=1.0)
    actions = search.run(start.states, start.seeds, knows_nothing(TABLE)).actions
    solved = [backward_induction(seed) for seed in range(300)]
    right = [
        best == action for (best, loss), action in zip(solved, actions, strict=True) if loss > 0.03
    ]
    assert len(right) >= 80
    assert np.mean(right) > 0.95
    assert {best for best, _ in solved} == {0, 1}


@pytest.mark.nightly  # quick: nothing hidden reaches a search of Kuhn poker
def test_does_not_peek() -> None:
    """The sure half is worth more than calling a coin, unless one looks at it."""
    start = begin(COIN, 40)
    assert set(start.states["coin"]) == {1, 2}
    search = GumbelSearch(Inputs(COIN), 40, 300)
    result = search.run(start.states, start.seeds, knows_nothing(COIN))
    assert result.actions.tolist() == [SURE] * 40
    for coin in (1, 2):  # what it can't see doesn't matter
        start.states["coin"] = coin
        other = search.run(start.states, start.seeds, knows_nothing(COIN))
        assert (other.policy == result.policy).all()


@pytest.mark.nightly  # quick: what a search peeks at, above
@pytest.mark.parametrize(
    "name",
    first_quick(
        [name for name in game_names() if get_game(name).observation.privileged_spec is not None],
        slow=0,
    ),
)
def test_luck_does_not_overrule_the_policy(name: str) -> None:
    """Where something is hidden, small noise in the values leaves most decisions to the logits."""
    game = get_game(name)
    generator = torch.Generator().manual_seed(0)
    logits = 3 * torch.randn(game.num_actions, generator=generator)

    def answer(features: NDArray[Any]) -> tuple[Tensor, Tensor]:
        values = 0.05 * torch.randn(len(features), game.max_players, generator=generator)
        return logits.expand(len(features), -1), values

    start = midgame(game, 100, 20)
    going = start.states["seat"] >= 0
    states, seeds, masks = start.states[going], start.seeds[going], start.action_mask[going]
    likeliest = np.where(masks, logits.numpy(), -np.inf).argmax(1)[masks.sum(1) > 1]
    assert len(likeliest) >= 40
    shares = []
    for least in (MIN_VALUE_RANGE, None):
        search = GumbelSearch(Inputs(game), len(states), 32, min_value_range=least)
        actions = search.run(states, seeds, answer).actions[masks.sum(1) > 1]
        shares.append((actions == likeliest).mean())
    assert shares[0] < 0.8
    assert shares[1] > 0.95


@pytest.mark.slow
@pytest.mark.parametrize(
    ("views", "plies", "limit"),
    first_quick([(np.arange(192), 6, 0), (None, 6, 0), (None, 13, 2000)], slow=0),
)
def test_depends_on_position_and_seed_alone(
    views: NDArray[np.int64] | None, plies: int, limit: int
) -> None:
    positions = midgame(LINKAGE, 16, plies)
    before = positions.states.copy()

    def run(rows: NDArray[np.int64], count: int, splits: int = 1) -> NDArray[np.float32]:
        search = GumbelSearch(Inputs(LINKAGE), count, 12, views=views, solver_limit=limit)
        states, seeds = positions.states[rows], positions.seeds[rows]
        answer = opinionated(LINKAGE)
        return search.run(states, seeds, answer, gumbel_scale=1.0, splits=splits).policy

    rows = np.arange(16)
    policy = run(rows, 16)
    assert positions.states.tobytes() == before.tobytes()
    assert ((policy > 0) <= (positions.action_mask > 0)).all()
    np.testing.assert_allclose(policy.sum(1), 1, rtol=1e-4)
    np.testing.assert_allclose(run(rows[::-1], 20), policy[::-1], atol=1e-5)
    np.testing.assert_allclose(run(rows[5:6], 1), policy[5:6], atol=1e-5)
    np.testing.assert_allclose(run(rows, 16, splits=5), policy, atol=1e-5)
    np.testing.assert_allclose(run(rows[:2], 16, splits=3), policy[:2], atol=1e-5)
    positions.seeds += np.uint64(1000)
    assert np.abs(run(rows, 16) - policy).max() > 0.01


def test_the_network_is_asked_for_one_group_after_the_other() -> None:
    """So that it answers for one while the trees of the other grow."""
    positions, asked = midgame(LINKAGE, 24, 6), list[int]()

    def answer(features: NDArray[Any]) -> tuple[Tensor, Tensor]:
        asked.append(len(features))
        return knows_nothing(LINKAGE)(features)

    GumbelSearch(Inputs(LINKAGE), 24, 5).run(positions.states, positions.seeds, answer, splits=2)
    assert asked == 6 * [12, 12]


@pytest.mark.slow
@pytest.mark.parametrize("game", first_quick(["linkage", "love_links", "link_o"], slow=0))
@pytest.mark.parametrize("entries", first_quick([12, 10**6], 1, 0))
def test_known_evaluations_change_no_search(game: str, entries: int) -> None:
    """Two plies of the same games; a large table never forgets, and no position is asked twice."""
    rules, asked = get_game(game), list[bytes]()
    views = np.array([len(symmetries(rules)) - 1]) if rules.observation.symmetries else None
    search = GumbelSearch(Inputs(rules), 12, 30, views=views)
    known = Evaluations(Inputs(rules), entries)

    def answer(features: NDArray[Any]) -> tuple[Tensor, Tensor]:
        asked.extend(row.tobytes() for row in features)
        return opinionated(rules)(features)

    positions, evaluated, plain = midgame(rules, 12, 6), list[bytes](), list[bytes]()
    states, seeds = positions.states, positions.seeds
    for _ in range(2):
        wanted = search.run(states, seeds, answer)
        plain += asked
        asked.clear()
        result = search.run(states, seeds, answer, evaluations=known)
        evaluated += asked
        asked.clear()
        np.testing.assert_allclose(result.policy, wanted.policy, atol=1e-5)
        np.testing.assert_allclose(result.values, wanted.values, atol=1e-5)
        kernels(rules).play(states, wanted.actions, np.empty((12, rules.num_actions), np.int8))
        assert (states["seat"] >= 0).all()
    assert set(evaluated) == set(plain)
    assert entries == 12 or len(evaluated) == len(set(plain)) < len(plain)


def test_evaluations_are_known_by_all_that_the_network_reads() -> None:
    inputs, rng = Inputs(LINKAGE), np.random.Generator(np.random.PCG64(0))
    known = Evaluations(inputs, 5000)
    features = rng.integers(-9, 9, (4, inputs.width)).astype(np.int16)
    logits, values = (
        rng.random((4, LINKAGE.num_actions), np.float32),
        rng.random((4, 2), np.float32),
    )
    twice = [0, 1, 0, 2, 3, 3]
    entries, new = known.find(features[twice])
    assert new.tolist() == [0, 1, 3, 4]
    known.logits[entries[new]], known.values[entries[new]] = logits, values
    entries, new = known.find(features)
    assert len(new) == 0
    assert (known.logits[entries] == logits).all()
    assert (known.values[entries] == values).all()
    for column in range(inputs.width):
        features[:, column] -= 1
        assert len(known.find(features)[1]) == 4
        features[:, column] += 1
    with pytest.raises(ValueError, match="4 inputs for 3 entries"):
        Evaluations(inputs, 3).find(features)


def test_random_views_of_a_symmetric_network_change_nothing() -> None:
    """A network that looks at nothing is symmetric if its logits are."""
    every = symmetries(LINKAGE)
    rng = np.random.Generator(np.random.PCG64(0))
    rows = rng.normal(size=(192, LINKAGE.num_actions)).astype(np.float32)
    turned, indices = rows.copy(), np.arange(192)
    every.turn_actions(turned, indices)
    assert (turned[1:] != rows[1:]).any(1).all()
    for view in indices:
        action = 7
        assert turned[view, every.actions[view, action]] == rows[view, action]
    every.turn_back(turned, indices)
    assert (turned == rows).all()
    positions = midgame(LINKAGE, 8, 5)
    results = [
        GumbelSearch(Inputs(LINKAGE), 8, 30, views=views).run(
            positions.states, positions.seeds, knows_nothing(LINKAGE)
        )
        for views in (None, np.arange(192))
    ]
    assert (results[0].policy == results[1].policy).all()


@pytest.mark.parametrize("simulations", first_quick([200, 1, 8], slow=2))
@pytest.mark.parametrize("game", ["connect_four:GAME", "linkage", "love_links", "link_o"])
def test_a_search_keeps_to_its_memory(game: str, simulations: int) -> None:
    """Whatever takes most of it: a solver, priors, or nodes; and no further position fits."""
    rules = get_game(game)
    policy = PolicyAgent("bare", rules, make_network(rules, "flat", 8, 1), {})
    agent = SearchAgent(policy, simulations)
    search, count = agent._idle[0], agent._count
    assert search.nbytes <= 2**28 < search.nbytes // count * (count + 1)


@pytest.mark.parametrize("game", first_quick(["linkage", "love_links", "link_o"], slow=0))
def test_every_game_can_be_searched(game: str) -> None:
    """Perfect information, public chance, hidden tiles; legal actions, and a zero-sum value."""
    rules = get_game(game)
    policy = PolicyAgent("bare", rules, make_network(rules, "flat", 8, 1), {})
    positions = midgame(rules, 12, 5)
    agent = SearchAgent(policy, 24)
    assert agent.name == "bare:24"
    actions = agent.act(positions)
    assert positions.action_mask[np.arange(12), actions].all()
    assert (agent.act(positions) == actions).all()
    hot = SearchAgent(PolicyAgent("hot", rules, policy.network, {}, temperature=1.0), 24)
    drawn = hot.act(positions)
    assert positions.action_mask[np.arange(12), drawn].all()


@pytest.mark.slow
def test_a_forced_move_takes_no_search() -> None:
    """In the last plies of Linkage; positions with a choice are searched as they are alone."""
    policy = PolicyAgent("bare", LINKAGE, make_network(LINKAGE, "flat", 8, 1), {})
    agent = SearchAgent(policy, 4)
    late = midgame(LINKAGE, 200, 20)
    forced = late.action_mask.sum(1) == 1
    assert 0 < forced.sum() < len(late)
    actions = agent.act(late)
    assert (actions == late.action_mask.argmax(1))[forced].all()
    choices = Positions(LINKAGE, late.states[~forced], late.seeds[~forced])
    assert (agent.act(choices) == actions[~forced]).all()
    policy.forward = None  # type: ignore[assignment,method-assign]  # nothing is asked
    agent.act(Positions(LINKAGE, late.states[forced], late.seeds[forced]))


@pytest.mark.nightly  # quick: test_ladder.py, linkage with a search
def test_a_search_beats_its_own_network() -> None:
    """A network whose policy is uniform wins by searching with true endings alone."""
    from linkzoo_training.evaluation.match import play_match

    bare = PolicyAgent("bare", LINKAGE, make_network(LINKAGE, "flat", 8, 1), {})
    options = {"board_size": 5, "threshold": 8}
    result = play_match("linkage", SearchAgent(bare, 64), bare, 60, seed=1, options=options)
    assert result.win_share().low > 0.6


def test_senseless_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="simulations=0"):
        GumbelSearch(Inputs(LINKAGE), 1, 0)
    with pytest.raises(ValueError, match="considered=0"):
        GumbelSearch(Inputs(LINKAGE), 1, 1, considered=0)
    links = get_game("love_links")
    other = PolicyAgent("links", links, make_network(links, "flat", 8, 1), {})
    with pytest.raises(ValueError, match="links plays love_links, not linkage"):
        SearchAgent(other, 5).act(begin(LINKAGE, 1))


@pytest.mark.parametrize("count", [3, 40])
def test_more_positions_than_it_was_made_for_are_refused(count: int) -> None:
    """They would be written beyond the ends of arrays."""
    search, positions = GumbelSearch(Inputs(LINKAGE), 2, 4), begin(LINKAGE, count)
    with pytest.raises(ValueError, match=rf"{count} positions .* up to 2,"):
        search.run(positions.states, positions.seeds, knows_nothing(LINKAGE))
    with pytest.raises(ValueError, match="2 positions and 1 seeds"):
        search.run(positions.states[:2], positions.seeds[:1], knows_nothing(LINKAGE))
    few = search.run(positions.states[:2], positions.seeds[:2], knows_nothing(LINKAGE))
    assert (positions.action_mask[[0, 1], few.actions] == 1).all()


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("part", ["logits", "values"])
@pytest.mark.parametrize("late", [False, True])
def test_answers_that_are_not_finite_are_refused(wrong: float, part: str, late: bool) -> None:
    """One such number of a root or a leaf is enough, and then no move is played."""
    asked = 0

    def answer(features: NDArray[Any]) -> tuple[Tensor, Tensor]:
        nonlocal asked
        logits, values = knows_nothing(LINKAGE)(features)
        asked += 1
        if asked > 2 * late:
            (logits if part == "logits" else values)[-1, 1] = wrong
        return logits, values

    positions = begin(LINKAGE, 2)
    with pytest.raises(ValueError, match=f"the network's {part} aren't finite"):
        GumbelSearch(Inputs(LINKAGE), 2, 4).run(positions.states, positions.seeds, answer)


def test_moves_are_legal_whatever_finite_numbers_the_network_answers() -> None:
    """The largest and smallest finite numbers, in any positions."""
    rng = np.random.Generator(np.random.PCG64(5))
    extremes = np.array([3e38, -3e38, 0, 1e-45], np.float32)

    def answer(features: NDArray[Any]) -> tuple[Tensor, Tensor]:
        shape = len(features), LINKAGE.num_actions + LINKAGE.max_players
        numbers = torch.from_numpy(rng.choice(extremes, shape))
        return numbers[:, : LINKAGE.num_actions], numbers[:, LINKAGE.num_actions :]

    search = GumbelSearch(Inputs(LINKAGE), 8, 6)
    for plies in range(0, 24, 3):
        positions = midgame(LINKAGE, 8, plies)
        result = search.run(positions.states, positions.seeds, answer, gumbel_scale=1.0)
        assert (positions.action_mask[np.arange(8), result.actions] == 1).all()
        assert np.isfinite(result.policy).all()
        assert np.isfinite(result.values).all()


@pytest.mark.usefixtures("uncompiled")
def test_leaves_that_are_all_ends_need_no_network() -> None:
    """One game, one ply before its end: the simulations have nothing to ask."""
    policy = PolicyAgent("small", TABLE, make_network(TABLE, "flat", 8, 1), {})
    last = midgame(TABLE, 1, 99)
    assert last.action_mask[0, SearchAgent(policy, 6).act(last)[0]] == 1
