"""Programs whose bugs are known: the examples, and where nvcc is installed the programs of the tools' own tests.

Each has the tools that are to run, and the places that must be reported; everything else that is reported as an error is a false alarm."""
import collections
import glob
import os
import re
import shutil

import programs
from attack import ROOT

# kinds: one of them must be reported; none: silent. places: (kind, line) of each, or None where only kinds count. source: None of an example
Labelled = collections.namedtuple('Labelled', 'name command tool kinds places source')

EXAMPLES = [
    ('overrun', 'memcheck', 'oob-write'), ('merge_sort', 'memcheck', 'oob-read oob-write'), ('merge_sort', 'initcheck', 'uninit-use'),
    ('merge_sort', 'racecheck', 'race-global'), ('uninitialised_sum', 'initcheck', 'uninit-use'), ('missing_threads', 'synccheck', 'barrier-divergence'),
    ('triangle_normals', 'fpcheck', 'fp-nan fp-div0'), ('masked_softmax', 'fpcheck', 'fp-nan'), ('gram_schmidt', 'fpcheck', 'fp-nan'),
    ('half_variance', 'fpcheck', 'fp-inf'), ('likelihood', 'fpcheck', 'fp-inf'), ('endless_loop', 'synccheck', 'hang')]
TOOLS = ['memcheck', 'initcheck', 'racecheck', 'synccheck', 'fpcheck']


def examples():
    found = []
    for name, tool, kinds in EXAMPLES:
        command = programs.example(name)
        if command:
            found.append(Labelled(name, command, tool, kinds.split(), None, None))
    for name in sorted({e[0] for e in EXAMPLES}):
        command = programs.example(name + '_ok')
        found += [Labelled(name + '_ok', command, tool, [], None, None) for tool in TOOLS if command]
    return found


def setting(text, key):
    m = re.search(r'^// %s: *(.*)$' % key, text, re.M)
    return m.group(1).strip() if m else None


def marked(text, pattern):
    return [n for n, line in enumerate(text.split('\n'), 1) if re.search(pattern, line)]


def places_of(folder, text):
    """What the comments of a test program announce, in the words of that folder's test."""
    if folder == 'memcheck':
        return [(m.group(1), int(m.group(2))) for m in re.finditer(r'^// finds: (\S+) (\d+)', text, re.M)]
    if folder == 'initcheck':
        return [('uninit-use', n) for n in marked(text, r'// use( \d+)?:')]
    if folder == 'racecheck':              # tests/racecheck/compare.py knows the places
        return [('race-global', n) for n in marked(text, r'// (race|host) ')]
    wants = setting(text, 'expect').split()
    return [] if wants[0] == 'nothing' else [(wants[0], int(n)) for n in wants[1:]]


def of_the_tests():
    """Arguments of build: nvcc compiles a program when it is first chosen."""
    if not shutil.which('nvcc'):
        return []
    found = []
    for folder in 'memcheck', 'initcheck', 'synccheck', 'racecheck':
        for f in sorted(glob.glob(os.path.join(ROOT, 'tests', folder, 'programs', '*.cu'))):
            found += [(folder, f, twin) for twin in (['', '-DTWIN'] if folder == 'synccheck' else [''])]
    return found


def build(folder, source, twin):
    with open(source) as f:
        text = f.read()
    arch = setting(text, 'arch') or '75'
    arch = arch if arch.startswith('compute_') else 'compute_' + arch
    name = '%s_%s%s' % (folder, os.path.basename(source)[:-3], twin)
    exe = programs.build(name, [source], 'tests/lib/nvcc -w -g -O3 --extended-lambda -lineinfo -DARCH=%s %s %s -gencode arch=%s,code=%s -o "$1" "$TEST_FILE"' % (arch[8:], twin, setting(text, 'nvcc') or '', arch, arch))
    places = [] if twin else places_of(folder, text)
    return exe and Labelled(name, [exe], folder, sorted({k for k, _ in places}), None if folder == 'synccheck' else places, source)
