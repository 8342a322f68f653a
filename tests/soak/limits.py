#!/usr/bin/env python3
"""Full disks and limits of the system: files of at most so many bytes, little address space, few
descriptors, a small file system.

A run must end without a crash. If its exit code says that all went well, the bug was reported and
every file that was asked for is whole;
a file that could not be written makes the exit code 125."""
import json
import os
import resource
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import programs  # noqa: E402
from attack import SLOW, Attack, warpgrind  # noqa: E402

KB, MB = 1 << 10, 1 << 20
# documented codes; 1: the program's own, when CUDA calls fail
CODES = {0, 1, 99, 125, 126, 127}
# The sanitizers' runtime itself needs terabytes of address space and an aligned stack.
KINDS = ['file size', 'file size', 'descriptors', 'processes'] + ([] if SLOW > 1 else ['memory',
    'stack'])


def small_disk(size):
    """A new mount namespace with a tmpfs; only root can."""
    return ['unshare', '-m', 'sh', '-c',
            'mount -t tmpfs -o size=%d none "$1" && shift && exec "$@"' % size, 'sh']


def can_mount():
    if os.geteuid() != 0:
        return False
    return subprocess.run(small_disk(MB) + ['/mnt', 'true'], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def set_limit(which, value):
    def before():
        hard = resource.getrlimit(which)[1]
        resource.setrlimit(which, (value, value if hard == resource.RLIM_INFINITY else min(value,
            hard)))
    return before


def choose_limit(rng, root):
    """What it is called, a function for the child, words before the command."""
    which = rng.choice(KINDS + ['disk'] * 3 * root)
    if which == 'file size':
        n = rng.choice([0, 1, 100, 4 * KB, rng.randrange(200 * KB), rng.randrange(4 * MB)])
        return '%s %d' % (which, n), set_limit(resource.RLIMIT_FSIZE, n), []
    if which == 'memory':
        n = rng.choice([rng.randrange(32 * MB, 512 * MB), rng.randrange(512 * MB, 64 << 30)])
        return '%s %d' % (which, n), set_limit(resource.RLIMIT_AS, n), []
    if which == 'descriptors':
        n = rng.randrange(3, 40)
        return '%s %d' % (which, n), set_limit(resource.RLIMIT_NOFILE, n), []
    if which == 'processes':
        n = rng.randrange(0, 40)
        return '%s %d' % (which, n), set_limit(resource.RLIMIT_NPROC, n), []
    if which == 'stack':
        n = rng.randrange(128 * KB, 2 * MB)
        return '%s %d' % (which, n), set_limit(resource.RLIMIT_STACK, n), []
    n = rng.choice([4 * KB, rng.randrange(4 * KB, 400 * KB), rng.randrange(MB, 8 * MB)])
    return '%s %d' % (which, n), None, small_disk(n)


def findings_in(path):
    try:
        with open(path) as f:
            return len(json.load(f)['findings'])
    except (OSError, ValueError):
        return 0


def check_files(a, r, what, wanted, disk):
    """After an exit code of 0 or 99 every file is there and whole."""
    if disk:                                           # it went with its mount namespace
        return
    if 'report.json' in wanted and r.code in (0, 99):
        if not findings_in(a.path('report.json')):
            a.found('%s: exit code %d, but report.json lacks the finding' % (what, r.code), r)
    if os.path.exists(a.path('run.wg')):
        again = a.run(warpgrind('report', '--json=' + a.path('again.json'), a.path('run.wg')),
                      timeout=20)
        a.must_hold(again, {0, 125}, 'report after ' + what)
        if r.code in (0, 99) and (again.code or not findings_in(a.path('again.json'))):
            a.found('%s: exit code %d, but the file lacks the finding' % (what, r.code), again)
    elif 'run.wg' in wanted and r.code in (0, 99):
        a.found('%s: exit code %d without a run file' % (what, r.code), r)


def main():
    a = Attack(__doc__)
    buggy = [(p, t) for p, t in ((programs.example('overrun'), 'memcheck'),
                                 (programs.example('merge_sort'), 'memcheck'),
                                 (programs.example('uninitialised_sum'), 'initcheck')) if p]
    if not buggy:
        a.skip('no example could be built')
    root = can_mount()
    for rng in a.cases():
        program, tool = rng.choice(buggy)
        name, before, words = choose_limit(rng, root)
        wanted = [f for f in ('run.wg', 'report.json', 'log') if rng.random() < 0.6]
        options = ['--device=cpu', '--tool=' + tool]
        if 'run.wg' in wanted:
            options += ['-o', a.path('run.wg')] + (['--record'] if rng.random() < 0.6 else [])
        if 'report.json' in wanted:
            options.append('--json=' + a.path('report.json'))
        if 'log' in wanted:
            options.append('--log-file=' + a.path('log'))
        words = words + [a.folder] if words else []
        r = a.run(words + warpgrind(*options, '--', *program), timeout=40, before=before)
        what = '%s with %s, writing %s' % (os.path.basename(program[0]), name, ' '.join(wanted)
                                           or 'nothing')
        if a.must_hold(r, CODES, what):
            if r.code == 0:
                a.found('%s: exit code 0, although the program has a bug' % what, r)
            check_files(a, r, what, wanted, bool(words))
        a.count(name.split()[0])
        a.count('exit code %d' % r.code)
    a.finish()


main()
