"""The page plays a small edition against its equilibrium, and says what each move is worth."""

from pathlib import Path

import pytest

from linkzoo import exact
from linkzoo_training.agents.specs import AgentSpec
from tests.web.server import Client, serving

OPTIONS = {"board": "mini2x4a-h2"}


@pytest.mark.nightly
def test_an_edition_against_its_equilibrium(tmp_path: Path) -> None:
    tree = exact.tree("link_o", options=OPTIONS)
    solution = exact.solve(tree)
    file = tmp_path / "equilibrium.npz"
    exact.tabular_agent(tree, solution.policy).save(file)
    spec = AgentSpec.parse(f"tabular:{file}")
    with serving(tmp_path / "games", custom_agents=[str(spec)]) as client:
        (offered,) = [one for one in client.ask("catalogue")[1]["games"] if one["name"] == "link_o"]
        (board,) = [option for option in offered["options"] if option["name"] == "board"]
        assert OPTIONS["board"] in board["choices"]
        (agent,) = [agent for agent in offered["agents"] if agent["name"] == str(spec)]
        assert agent["options"]["board"] == OPTIONS["board"]
        name = client.new_game("link_o", ["human", str(spec)], options=OPTIONS)
        view = client.settled(name)
        assert view["moves"]
        assert view["judges"] == [str(spec), "linear"]
        status, answer = client.ask(f"sessions/{name}/analysis", {"agent": "linear"})
        assert status == 200
        assert sum(move["share"] for move in answer["moves"]) == pytest.approx(1, abs=1e-3)
        assert answer["values"] == [None, None]
        status, answer = client.ask(f"sessions/{name}/analysis", {"agent": str(spec)})
        assert status == 200
        values = [move["value"] for move in answer["moves"]]
        shares = [move["share"] for move in answer["moves"]]
        mean = sum(share * value for share, value in zip(shares, values, strict=True))
        assert answer["values"] == pytest.approx([mean, -mean], abs=1e-3)
        # In an equilibrium what is played is worth as much as the best move.
        assert mean == pytest.approx(max(values), abs=0.02)
        while not view["over"]:
            assert view["moves"], view["error"]
            client.ask(f"sessions/{name}/move", {"move": view["moves"][0]["text"]})
            view = client.settled(name)


@pytest.mark.parametrize("board", ["nowhere", "../../secret.json"])
def test_other_boards_are_refused(client: Client, board: str) -> None:
    wanted = {"game": "link_o", "seats": ["human", "random"], "options": {"board": board}}
    status, answer = client.ask("sessions", wanted)
    assert status == 400
    assert "but a page plays" in answer["error"]
