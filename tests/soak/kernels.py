#!/usr/bin/env python3
"""Mutated kernels: PTX of the tests and the examples with changed tokens, and kernels made to reach
foreign memory, run under each tool on the virtual device.

The process must not crash, the run must end (an endless kernel at SIGTERM), and the exit code must
be one that is documented."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import mutate  # noqa: E402
import programs  # noqa: E402
import wild  # noqa: E402
from attack import ROOT, Attack, warpgrind  # noqa: E402

TOOLS = ['none', 'memcheck', 'initcheck', 'racecheck', 'synccheck', 'fpcheck', 'count',
         'memcheck,racecheck', 'initcheck,synccheck', 'all']
# ptxhost: 0 to 3; 99 findings; 125 what cannot be executed
CODES = {0, 1, 2, 3, 99, 125}


def sources():
    host = programs.ptxhost()
    found = [([host], f) for f in programs.kernel_tests()] if host else []
    for name in 'merge_sort', 'half_variance':
        program = programs.example(name)
        if program:
            found.append((program[:1], os.path.join(ROOT, 'examples', name, 'ptx', name + '.ptx')))
    return found


def never_ends(a, program, kernel):
    """A loop that goes on storing: no watchdog can know that it never ends. With no tool either."""
    return a.run(warpgrind('--device=cpu', '--tool=none', '--hang-timeout=1', '--hang-action=stop',
                           '--', *program, kernel), timeout=5, cwd=a.folder).code == 128 + 15


def main():
    a = Attack(__doc__)
    material, host = sources(), programs.ptxhost()
    if not material:
        a.skip('no host program could be built')
    for rng in a.cases():
        program, source = rng.choice(material)
        if host and rng.random() < 0.25:
            program, source, text = [host], 'wild.ptx', wild.kernel(rng)
        else:
            with open(source) as f:
                text = mutate.ptx(f.read(), rng, rng.choice([1, 1, 1, 2, 3, 5]))
        changed = a.path('kernel.ptx')
        with open(changed, 'w') as f:
            f.write(text)
        tool = rng.choice(TOOLS)
        options = ['--device=cpu', '--tool=' + tool, '--hang-timeout=1', '--hang-action=stop',
                   '--workers=%d' % rng.choice([1, 2, 3])]
        if rng.random() < 0.3:
            options.append('--seed=%d' % rng.randrange(1000))
        if rng.random() < 0.3:
            options += ['--record', '-o', a.path('run.wg'), '--record-disk=50']
        r = a.run(warpgrind(*options, '--', *program, changed), timeout=20, cwd=a.folder)
        if r.code == 128 + 15 and never_ends(a, program, changed):
            a.count('endless')
            continue
        a.must_hold(r, CODES, '%s under %s' % (os.path.basename(source), tool))
        a.count('refused' if b'INVALID_PTX' in r.err or r.code in (2, 3, 125) else 'executed')
    a.finish()


main()
