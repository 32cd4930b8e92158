"""Export of a checkpoint's network to ONNX, which runs without torch and linkzoo."""

import json
import logging
import warnings
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from linkzoo.core.files import write_atomically
from linkzoo.registry import id_of
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.networks.flat import masked, select
from linkzoo_training.networks.inputs import MAX_LISTED
from linkzoo_training.networks.policy_value import PolicyValueNet
from linkzoo_training.resources import check_installed


class ExportedNet(nn.Module):
    """A network that takes an environment's observations.

    Maps observations [B, …] and action masks [B, A] to logits [B, A], about ILLEGAL_LOGIT for
    illegal actions, and values [B, P], the observer's first. A network that scores actions also
    takes the rows of legal actions [B, MAX_LISTED, 1 + K] (`networks.inputs`).

    Args:
        network: The network.
    """

    columns: Tensor
    levels: Tensor

    def __init__(self, network: PolicyValueNet) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("columns", torch.from_numpy(network.map.columns))
        self.register_buffer("levels", torch.from_numpy(network.map.levels).float())

    def forward(
        self, observation: Tensor, action_mask: Tensor, actions: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Returns masked logits and values; computes the features as FeatureMap does."""
        features = select(observation.flatten(1).float(), self.columns, self.levels)
        if actions is not None:
            features = torch.cat([features, actions.flatten(1).float()], 1)
        logits, values = self.network(features)
        return masked(logits, action_mask.bool().float()), values


def export_onnx(checkpoint: str | Path, path: Path) -> None:
    """Writes a checkpoint's network, without symmetric views, to an ONNX file.

    Inputs and outputs are ExportedNet's, named `observation`, `action_mask`, `actions` (if the
    network scores them), `logits` and `values`, with a dynamic batch size.

    Args:
        checkpoint: The name of a shipped checkpoint, or a folder.
        path: The file.

    Raises:
        ValueError: There is no such checkpoint, or the extra `onnx` isn't installed.
    """
    check_installed("onnx", "onnx", "onnxscript")
    agent = load_agent(checkpoint)
    spec = agent.game.observation.spec
    batch = {0: torch.export.Dim("batch")}
    positions = 2  # the exporter would treat a batch of one as constant
    observation = torch.from_numpy(np.zeros((positions, *spec.shape), spec.dtype))
    action_mask = torch.ones(positions, agent.game.num_actions, dtype=torch.int8)
    inputs = {"observation": observation, "action_mask": action_mask}
    if row := agent.network.encoding.row:
        inputs["actions"] = torch.zeros(positions, MAX_LISTED, row, dtype=torch.int16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns about torch itself
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # and about missing torchvision
        program = torch.onnx.export(
            ExportedNet(agent.network).eval(),
            tuple(inputs.values()),
            input_names=list(inputs),
            output_names=["logits", "values"],
            dynamic_shapes=(batch,) * len(inputs),
            verbose=False,
        )
    assert program is not None
    about = {
        "checkpoint": Path(agent.name).name,
        "game": id_of(agent.game),
        "version": agent.game.version,
    }
    program.model.metadata_props["linkzoo"] = json.dumps(about)
    write_atomically(path, program.model_proto.SerializeToString())
