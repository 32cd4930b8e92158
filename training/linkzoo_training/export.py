"""Export of a checkpoint's network to ONNX, which runs without torch and linkzoo."""

import json
import logging
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from linkzoo import Game
from linkzoo.core.files import write_atomically
from linkzoo.registry import id_of
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.networks.flat import masked, select
from linkzoo_training.networks.policy_value import PolicyValueNet


class ExportedNet(nn.Module):
    """A network that takes an environment's observations.

    Maps observations [B, …] and action masks [B, A] to logits [B, A], ILLEGAL_LOGIT where illegal,
    and values [B, P], the observer's first.
    """

    columns: Tensor
    levels: Tensor

    def __init__(self, network: PolicyValueNet) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("columns", torch.from_numpy(network.map.columns))
        self.register_buffer("levels", torch.from_numpy(network.map.levels).float())

    def forward(self, observation: Tensor, action_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Returns masked logits and values; computes the features as FeatureMap does."""
        features = select(observation.flatten(1).float(), self.columns, self.levels)
        logits, values = self.network(features)
        return masked(logits, action_mask.float()), values


def export_onnx(checkpoint: str | Path, path: Path) -> None:
    """Writes a checkpoint's network, without symmetric views, to an ONNX file.

    Inputs and outputs are ExportedNet's, named `observation`, `action_mask`, `logits` and `values`,
    with a dynamic batch size.

    Raises:
        ValueError: There is no such checkpoint, or the extra `onnx` isn't installed.
    """
    missing = [name for name in ("onnx", "onnxscript") if find_spec(name) is None]
    if missing:
        raise ValueError(f"{', '.join(missing)} not installed: pip install 'linkzoo[onnx]'")
    agent = load_agent(checkpoint)
    batch = {0: torch.export.Dim("batch")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's exporter warns about torch itself
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # and about missing torchvision
        program = torch.onnx.export(
            ExportedNet(agent.network).eval(),
            _example(agent.game),
            input_names=["observation", "action_mask"],
            output_names=["logits", "values"],
            dynamic_shapes=(batch, batch),
            verbose=False,
        )
    assert program is not None
    about = {"checkpoint": agent.name, "game": id_of(agent.game), "version": agent.game.version}
    program.model.metadata_props["linkzoo"] = json.dumps(about)
    write_atomically(path, program.model_proto.SerializeToString())


def _example(game: Game) -> tuple[Tensor, Tensor]:
    """Returns inputs for two positions: the exporter would treat a batch of one as constant."""
    spec = game.observation.spec
    observation = torch.from_numpy(np.zeros((2, *spec.shape), spec.dtype))
    return observation, torch.ones(2, game.num_actions, dtype=torch.int8)
