#!/usr/bin/env python3
"""kill -9 of the command, the program and both at random moments while a run is recorded: the file
that is left can be read and is true.

tests/cut/kills.py kills and compares; here it gets new seeds."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import programs  # noqa: E402
from attack import ROOT, WARPGRIND, Attack  # noqa: E402


def main():
    a = Attack(__doc__)
    program = programs.driver_program('tests/cut/ladder.c')
    if not program:
        a.skip('the program could not be built')
    for rng in a.cases():
        kill = [sys.executable, os.path.join(ROOT, 'tests/cut/kills.py'), WARPGRIND, program,
                a.folder, str(rng.randrange(1 << 30)), '1']
        r = a.run(kill, timeout=200)
        if r.code:
            said = (r.out + r.err).decode(errors='replace').strip().splitlines()
            a.found('after a kill: %s' % (said[-1] if said else 'exit code %d' % r.code), r)
    a.finish()


main()
