"""Exported networks answer as they do here, for any number of positions."""

import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from linkzoo import get_game, make_vec
from linkzoo_training import resources
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.checkpoints.checkpoint import save_checkpoint
from linkzoo_training.commands.cli import main
from linkzoo_training.networks.flat import make_network, masked
from linkzoo_training.networks.inputs import MAX_LISTED
from tests.driving import first_quick


@pytest.mark.slow  # quick: test_own_network.py::test_from_training_to_search_and_export
@pytest.mark.parametrize(
    ("game", "kind"),
    first_quick(
        [
            ("love_links", "action"),
            ("link_o", "graph"),
            ("love_links", "flat"),
            ("linkage", "board"),
        ],
        1,
        0,
    ),
)
def test_onnxruntime_gives_the_same_answers(
    game: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of environments' own observations and masks, in batches of 1 and of 7."""
    network = make_network(get_game(game), kind, 8, 1)
    with torch.no_grad():
        for parameter in network.parameters():  # no head is quiet, no gate shut
            parameter.add_(0.3 * torch.randn_like(parameter))
    size = {"kind": kind, "width": 8, "blocks": 1}
    save_checkpoint(tmp_path / "tiny", network, get_game(game), {"network": size, "views": 1})
    path = tmp_path / "tiny.onnx"
    assert main(["tools", "export", str(tmp_path / "tiny"), "--onnx", str(path)]) == 0
    assert capsys.readouterr().out.endswith(f"{path}\n")
    session = onnxruntime.InferenceSession(str(path))
    about = json.loads(session.get_modelmeta().custom_metadata_map["linkzoo"])
    assert about == {"checkpoint": "tiny", "game": game, "version": get_game(game).version}
    agent = load_agent(tmp_path / "tiny")
    for count in (1, 7):
        vec = make_vec(game, count)
        now = vec.reset(3)
        for _ in range(5):
            now = vec.step(now.action_mask.argmax(1))
        inputs = {"observation": now.observation, "action_mask": now.action_mask}
        encoding, flat = agent.network.encoding, now.observation.reshape(count, -1)
        encoded = encoding.encode(vec.states, now.action_mask, flat)
        if encoding.row:
            listed = encoded[:, len(encoding.map) :]
            inputs["actions"] = listed.reshape(count, MAX_LISTED, encoding.row)
        logits, values = session.run(["logits", "values"], inputs)
        expected = agent.forward(encoded)
        legal = masked(expected[0], torch.from_numpy(now.action_mask)).numpy()
        assert expected[0].std() > 0.1
        np.testing.assert_allclose(logits, legal, atol=1e-4)
        np.testing.assert_allclose(values, expected[1].numpy(), atol=1e-4)


def test_what_cannot_be_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "a.onnx")
    assert main(["tools", "export", "nothing", "--onnx", path]) == 2
    assert "no checkpoint 'nothing'" in capsys.readouterr().err
    monkeypatch.setattr(resources, "find_spec", lambda name: None if name == "onnx" else name)
    assert main(["tools", "export", "linkage", "--onnx", path]) == 2
    assert (
        "onnx not installed: in a clone of linkzoo, pip install '.[onnx]'"
        in capsys.readouterr().err
    )
