#!/usr/bin/env python3
"""Programs with known bugs, and correct ones, under shuffled schedules: every bug is reported, and
nothing else is.

The examples run from the PTX of the tree; programs of the tools' tests join them where nvcc is
installed and there is a minute or more."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import labelled  # noqa: E402
import findings  # noqa: E402
from attack import ROOT, Attack, warpgrind  # noqa: E402

# tools beside the one in question
MORE_TOOLS = ['', '', '', ',memcheck', ',racecheck', ',synccheck']
EXTRA_KINDS = {'merge_sort': {'oob-read', 'oob-write', 'race-global', 'uninit-use'},
               'endless_loop': {'hang'}}


def line_of(finding, wanted):
    """The line of the program itself, the outermost that is wanted."""
    places = [finding] + finding.get('inlined_at', []) + finding.get('stack', [])
    lines = [p.get('line') for p in places if p.get('line')]
    return next((n for n in reversed(lines) if (finding['kind'], n) in wanted), lines[0] if lines
                else 0)


def judge(p, path):
    """What is wrong with the report, or None."""
    if p.tool == 'racecheck' and p.source:
        with open(path) as f:
            return '; '.join(findings.compare(p.source, json.load(f))) or None
    with open(path) as f:
        report = json.load(f)
    errors = [f for f in report['findings'] if f['severity'] == 'error']
    kinds = {f['kind'] for f in errors}
    if p.kinds and not kinds & set(p.kinds):
        return 'missed: %s; reported: %s' % (' '.join(p.kinds), ' '.join(sorted(kinds))
                                             or 'nothing')
    false = kinds - set(p.kinds) - EXTRA_KINDS.get(p.name, set())
    if p.kinds and p.tool == 'synccheck':
        false -= {'hang', 'launch-failure'}
    if false:
        return 'false alarm: ' + ' '.join(sorted(false))
    if p.places is not None:
        got = {(f['kind'], line_of(f, p.places)) for f in errors}
        missed = set(p.places) - got
        if missed:
            return 'missed: %s' % sorted(missed)
    return None


def main():
    a = Attack(__doc__)
    small = labelled.examples()
    large = labelled.of_the_tests() if a.options.seconds >= 60 else []
    if not small:
        a.skip('no example could be built: clang is not installed')
    for rng in a.cases():
        p = rng.choice(small)
        if large and rng.random() < 0.5:
            p = labelled.build(*rng.choice(large))
            if not p:
                continue
        tool, more = p.tool, rng.choice(MORE_TOOLS)
        if not p.source and tool != 'fpcheck' and more[1:] != tool:
            tool += more
        options = ['--device=cpu', '--tool=' + tool, '--workers=%d' % rng.choice([1, 2, 3, 4, 8]),
                   '--hang-timeout=2', '--hang-action=stop']
        if rng.random() < 0.9:
            options.append('--seed=%d' % rng.randrange(1 << 31))
        if rng.random() < 0.2:
            options += ['--record', '-o', a.path('run.wg')]
        path = a.path('report.json')
        r = a.run(warpgrind(*options, '--json=' + path, '-q', '--', *p.command), timeout=60,
                  cwd=a.folder)
        if not a.must_hold(r, None, '%s under %s' % (p.name, tool)):
            continue
        if not os.path.exists(path):
            a.found('%s under %s: no report' % (p.name, tool), r)
            continue
        wrong = judge(p, path)
        if wrong:
            a.found('%s under %s: %s' % (p.name, ' '.join(options), wrong), r)
        a.count('with a bug' if p.kinds else 'correct')
    a.finish()


main()
