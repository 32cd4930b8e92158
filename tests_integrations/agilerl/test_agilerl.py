"""AgileRL's example runs on every game, and a seat's return is what the environment paid."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from agilerl.rollouts import collect_rollouts
from tests.snippets import ROOT, blocks

import linkzoo
from tests_integrations.running import load_example, run_example, run_main, wins
from tests_integrations.witness import Witness, WitnessSeat, forget


@pytest.fixture(autouse=True)
def notes() -> Iterator[None]:
    forget()
    yield
    assert all(Witness.moves)


@pytest.mark.parametrize("game", linkzoo.game_names())
def test_runs(game: str) -> None:
    for players in {linkzoo.get_game(game).min_players, linkzoo.get_game(game).max_players}:
        brief = "--steps 512 --envs 4 --rollout 64 --blocks 2".split()
        shares = wins(run_example("agilerl_ppo", game, "--players", str(players), *brief))
        assert all(0 <= share <= 100 for share in shares)


@pytest.mark.parametrize("game", linkzoo.game_names())
def test_returns(game: str) -> None:
    found: list[float] = []
    example = load_example("agilerl_ppo", FeatureSeatEnv=WitnessSeat)
    collect = example.collect_rollouts

    def watch(*args: Any, **kwargs: Any) -> Any:
        result = collect(*args, **kwargs)
        found.extend(result[0])
        return result

    example.collect_rollouts = watch
    run_main(example, game, *"--steps 1024 --envs 4 --rollout 128 --blocks 1".split())
    assert found
    assert found == pytest.approx(WitnessSeat.returns)


def test_the_documentation() -> None:
    names: dict[str, Any] = {"__name__": "frameworks"}
    page = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")
    (block,) = blocks(page, re.escape("{.py .agilerl}"))
    exec(compile(block, "frameworks.md, AgileRL", "exec"), names)
    returns, *_ = collect_rollouts(names["agent"], names["envs"], 64)
    assert returns
    names["agent"].learn()
