#!/usr/bin/env python3
"""Many processes: trees of forks and execs in which some processes have a bug, end in every way,
and in half of the cases write garbage over the memory shared with the command.

Without garbage every bug is reported, or the exit code is 125 and a sentence says what was lost.
With it the command must not crash or hang."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import programs  # noqa: E402
from attack import Attack, warpgrind  # noqa: E402


def reported(path):
    """Bad stores in all processes together; None: no report."""
    try:
        with open(path) as f:
            return sum(f['count'] for f in json.load(f)['findings'] if f['kind'] == 'oob-write')
    except (OSError, ValueError):
        return None


def main():
    a = Attack(__doc__)
    program = programs.driver_program('tests/soak/lib/processes.c')
    if not program:
        a.skip('the program could not be built')
    for rng in a.cases():
        scribbles = rng.random() < 0.5
        depth = rng.choice([1, 2, 2, 3])
        options = ['--device=cpu', '--tool=memcheck', '--json=' + a.path('report.json')]
        if rng.random() < 0.4:
            options += ['-o', a.path('run.wg')] + (['--record'] if rng.random() < 0.5 else [])
        r = a.run(warpgrind(*options, '--', program, str(rng.getrandbits(62)), str(depth),
                            str(int(scribbles))), timeout=120, cwd=a.folder)
        bugs = r.out.count(b'BUG\n')
        a.count('bugs', bugs)
        a.count('with garbage', scribbles)
        if not a.must_hold(r, {0, 99, 125, 128 + 9} if not scribbles else None,
                           'processes of depth %d' % depth) or scribbles:
            continue
        got = reported(a.path('report.json'))
        if r.code != 125 and got != bugs:
            a.found('%d bugs, %s reported, exit code %d' % (bugs, got, r.code), r)
    a.finish()


main()
