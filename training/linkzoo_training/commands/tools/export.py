"""`linkzoo tools export`."""

from argparse import ArgumentParser, Namespace

from linkzoo_training.commands.common import new_file

HELP = "write a checkpoint's network to a file that needs no torch"


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("checkpoint", metavar="CHECKPOINT", help="name of a shipped checkpoint, or a folder")
    add("--onnx", type=new_file, metavar="FILE", required=True, help="new file (required)")


def run(args: Namespace) -> None:
    """Writes the file and prints its path."""
    from linkzoo_training.export import export_onnx

    export_onnx(args.checkpoint, args.onnx)
    print(args.onnx)
