"""Checkpoints: safetensors and JSON files, written atomically and validated when read.

A published checkpoint is a folder with `model.safetensors` (weights) and `card.json` (game,
network, training, measured strength).
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from linkzoo import Game
from linkzoo.core.arguments import parse_json, shown
from linkzoo.core.files import write_atomically
from linkzoo.core.imports import whole_path
from linkzoo.registry import id_of
from linkzoo_training import schema
from linkzoo_training.checkpoints.fingerprints import fingerprints
from linkzoo_training.imports import is_import_path, source_digest
from linkzoo_training.networks.own import OwnNet
from linkzoo_training.networks.policy_value import PolicyValueNet
from linkzoo_training.resources import find_checkpoint, shipped_checkpoints

FORMAT = "linkzoo-checkpoint/2"
CARD = "card.json"
WEIGHTS = "model.safetensors"
_UNSEALED = "0" * 64  # placeholder of a file's SHA-256 while it is computed


def pack(tensors: Mapping[str, Tensor], **metadata: str) -> bytes:
    """Returns tensors and metadata as the bytes of a safetensors file."""
    ready = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    return save(ready, metadata={"json": "{}"} | metadata)


def unpack(data: bytes) -> dict[str, Tensor]:
    """Returns the tensors of `pack`'s bytes."""
    return load(data)


def strip_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Returns the tensors whose names begin with a prefix, and strips it."""
    names = [name for name in tensors if name.startswith(prefix)]
    return {name.removeprefix(prefix): tensors[name] for name in names}


def add_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Returns the tensors with a prefix added to their names, the inverse of `strip_prefix`."""
    return {prefix + name: value for name, value in tensors.items()}


def save_tensors(path: Path, tensors: Mapping[str, Tensor], meta: Mapping[str, Any]) -> None:
    """Writes tensors and JSON data to a safetensors file that contains its own SHA-256."""
    data = pack(tensors, json=json.dumps(meta), sha256=_UNSEALED)
    seal = hashlib.sha256(data).hexdigest().encode()
    write_atomically(path, data.replace(_UNSEALED.encode(), seal, 1))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Reads a file of `save_tensors`; raises ValueError if it is damaged."""
    data = path.read_bytes()
    try:
        tensors = dict(sorted(load(data).items()))
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
        seal = header["sha256"].encode()
        meta = json.loads(header["json"])
    except KeyError as error:
        raise ValueError(f"{path} is damaged: it has no {error}") from error
    except (SafetensorError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    digest = hashlib.sha256(data.replace(seal, _UNSEALED.encode(), 1)).hexdigest()
    if digest.encode() != seal or not isinstance(meta, dict):
        raise ValueError(f"{path} is damaged: its content doesn't have its SHA-256")
    return tensors, meta


def read_meta(path: Path) -> dict[str, Any]:
    """Returns the JSON data of `save_tensors` without reading the tensors or checking the file.

    Raises:
        ValueError: The file is damaged.
    """
    with path.open("rb") as file:
        return meta_of(file, str(path))


def meta_of(file: BinaryIO, name: str) -> dict[str, Any]:
    """Returns what `read_meta` does, from an open file; `name` is for its error."""
    try:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        meta: dict[str, Any] = json.loads(header["__metadata__"]["json"])
    except (ValueError, KeyError, TypeError, OverflowError, MemoryError, RecursionError) as error:
        raise ValueError(f"{name} is damaged: {error}") from error
    return meta


class _Network(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    kind: str
    width: Annotated[int, Field(ge=1, le=schema.MAX_WIDTH)]
    blocks: Annotated[int, Field(ge=0, le=schema.MAX_BLOCKS)]


class _Card(BaseModel):
    """Validated fields of a card; others are allowed."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)
    game: str
    version: int
    fixed: dict[str, Any]
    sha256: str
    fingerprints: dict[str, str]
    network: _Network
    views: Annotated[int, Field(ge=1, le=2**31 - 1)]
    network_sha256: str | None = None  # of the code of a custom network
    temperature: Annotated[float | None, Field(ge=0, le=schema.MAX_TEMPERATURE)] = None
    score_margin_weight: Annotated[float, Field(ge=0, le=schema.MAX_WEIGHT)] = 0.0
    min_value_range: Annotated[float | None, Field(gt=0, le=schema.MAX_RANGE)] = None
    trained: dict[str, Any] = {}
    strength: list[dict[str, Any]] = []
    blunder_rate: list[dict[str, Any]] = []


def save_checkpoint(
    folder: Path, network: PolicyValueNet, game: Game, card: Mapping[str, Any]
) -> None:
    """Writes a published checkpoint.

    The card has at least `network` (kind, width, blocks: the arguments of `make_network`) and
    `views` (symmetric views that the agent averages); `score_margin_weight` of its values if not 0,
    and `min_value_range` of its search (GumbelSearch) if not the default.
    """
    weights = pack(network.state_dict())
    settings = dict(card["network"])
    settings["kind"] = whole_path(settings["kind"])
    full = {
        "format": FORMAT,
        "game": id_of(game),
        "version": game.version,
        "fixed": dict(game.fixed.values),
        "sha256": hashlib.sha256(weights).hexdigest(),
        "fingerprints": fingerprints(game),
        **card,
        "network": settings,
    }
    if is_import_path(settings["kind"]):
        full["network_sha256"] = source_digest(settings["kind"], "network")
    write_atomically(folder / WEIGHTS, weights)
    save_card(folder, full)


def save_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Writes the whole card of a checkpoint."""
    write_atomically(folder / CARD, (json.dumps(card, indent=1) + "\n").encode())


def load_card(folder: Path) -> dict[str, Any]:
    """Returns a checkpoint's card; raises ValueError if it is damaged or of another format."""
    path = folder / CARD
    try:
        card = parse_json(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise ValueError(f"{path} is no card of format {FORMAT}")
    try:
        _Card.model_validate(card)
    except ValidationError as error:
        raise ValueError(f"{path}: {schema.explain(error)}") from error
    return card


def shipped_cards() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the names and cards of the shipped checkpoints."""
    for name in shipped_checkpoints():
        yield name, load_card(find_checkpoint(name))


def load_weights(network: PolicyValueNet, folder: Path) -> None:
    """Loads a checkpoint's weights into a network; raises ValueError if they don't fit.

    The weights of a custom network only fit the same code.
    """
    card = load_card(folder)
    digest = None
    if isinstance(network, OwnNet):
        digest = source_digest(network.path, "network")
    if card.get("network_sha256") != digest:
        raise ValueError(
            f"{folder} has the weights of the network {card['network']['kind']} with SHA-256 "
            f"{card.get('network_sha256')}, not of this one with {digest}"
        )
    network.load_state_dict(read_weights(folder, card, network))


def check_network_source(card: Mapping[str, Any]) -> None:
    """Raises ValueError unless the code of a card's custom network is unchanged.

    Call it before the network is imported.
    """
    kind = card["network"]["kind"]
    if not is_import_path(kind):
        return
    try:
        digest = source_digest(kind, "network")
    except ValueError as error:
        raise ValueError(f"{error}; if it was moved, change the card's network.kind") from error
    if digest != card.get("network_sha256"):
        raise ValueError(
            f"network {kind!r}: its code has changed since training: the SHA-256 of its file, with "
            f"the modules of the folder that it imports, is {digest}, "
            f"{card.get('network_sha256')} then"
        )


def read_weights(
    folder: Path, card: Mapping[str, Any], network: PolicyValueNet
) -> dict[str, Tensor]:
    """Returns a checkpoint's weights; raises ValueError unless they fit card and network."""
    path = folder / WEIGHTS
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != card["sha256"]:
        needed = shown(card["sha256"])
        raise ValueError(
            f"{path} is damaged, or not the card's: its SHA-256 is {digest}, not {needed}"
        )
    try:
        weights = unpack(data)
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    fitting(path, weights, network.state_dict(), "the network")
    return weights


def fitting(
    path: Path, tensors: Mapping[str, Tensor], expected: Mapping[str, Tensor], whose: str
) -> None:
    """Raises ValueError unless tensors have the expected names, shapes, dtypes and are finite."""
    for name in sorted(expected.keys() - tensors.keys()):
        raise ValueError(f"{path} has no tensor {name}, unlike {whose}")
    for name in sorted(tensors.keys() - expected.keys()):
        raise ValueError(f"{path} has a tensor {name}, unlike {whose}")
    for name, tensor in sorted(tensors.items()):
        needed = expected[name]
        if tensor.shape != needed.shape:
            shapes = f"{list(tensor.shape)}, {whose}'s has {list(needed.shape)}"
            raise ValueError(f"{path}: {name} has shape {shapes}")
        if tensor.dtype != needed.dtype:
            raise ValueError(
                f"{path}: {name} has dtype {tensor.dtype}, {whose}'s has {needed.dtype}"
            )
    finite(path, tensors)


def finite(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Raises ValueError if a file's tensors contain an infinity or NaN."""
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{path}: {name} holds numbers that aren't finite")
