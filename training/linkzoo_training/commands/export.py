"""`linkzoo export`."""

import argparse

from linkzoo_training.export import export_onnx


def run(parsed: argparse.Namespace) -> None:
    """Writes the file, and says where it is."""
    export_onnx(parsed.checkpoint, parsed.onnx)
    print(parsed.onnx)
