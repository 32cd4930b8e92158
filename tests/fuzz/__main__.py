"""`python -m tests.fuzz`: see `--help`.

The exit status is 1 if something was found, or nothing tried of a subject and game.
"""

import argparse
import os
import re
import signal
import sys

from tests.fuzz.cells import SUBJECTS, cells
from tests.fuzz.runner import Fuzz, Limits


def _stop(number: int, _frame: object) -> None:
    """TERM is as Ctrl-C, once: what was found is told."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main() -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=cells.__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--subject", nargs="*", help=f"of {', '.join(SUBJECTS)}; default: all")
    parser.add_argument("--game", nargs="*", help="default: all")
    parser.add_argument("--mutant", metavar="N or N-M", help="these of one subject and game only")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--limit", type=float, default=10.0, help="processor seconds of a mutant")
    parser.add_argument("--memory", type=float, default=8.0, help="GiB of a child")
    parser.add_argument("--traces", action="store_true", help="print tracebacks at the end")
    parsed = parser.parse_args()
    signal.signal(signal.SIGTERM, _stop)
    chosen = cells(parsed.subject, parsed.game)
    fuzz = Fuzz(
        chosen, parsed.seed, workers=parsed.workers, limits=Limits(parsed.limit, gib=parsed.memory)
    )
    if parsed.mutant is not None:
        numbers = re.fullmatch(r"(\d+)(?:-(\d+))?", parsed.mutant)
        if numbers is None or len(chosen) != 1:
            parser.error("--mutant: a number or a range, with one --subject and one --game")
        fuzz.repeat(int(numbers[1]), int(numbers[2] or numbers[1]))
    else:
        fuzz.run(60 * parsed.minutes)
    findings = list(fuzz.tally.findings.values())
    if parsed.traces or parsed.mutant is not None:
        for finding in findings:
            print(f"\n{fuzz.story(finding)}\n{finding.trace}")
    print(f"\nseed {parsed.seed}\n{fuzz.table()}")
    if findings:
        print(f"\n{len(findings)} kinds of faults:")
        for finding in findings:
            print(f"  {finding.times:>5} x {finding.kind} {finding.message} ({finding.where})")
            print(f"          {finding.command(parsed.seed)}")
    for cell in fuzz.untried:
        print(f"\nnothing was tried of {cell.subject} with {cell.game}: give it more minutes")
    return 1 if findings or fuzz.untried else 0


if __name__ == "__main__":
    sys.exit(main())
