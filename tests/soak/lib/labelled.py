"""Programs whose bugs are known: the examples, and where nvcc is installed the programs of the
tools' own tests.

Each has the tools that are to run, and the places that must be reported; everything else that is
reported as an error is a false alarm."""
import collections
import glob
import os
import shutil
import sys

import programs
from attack import ROOT

sys.path.insert(0, os.path.join(ROOT, 'tests', 'lib'))
import annotations  # noqa: E402

# kinds: one of them must be reported; none: silent. places: (kind, line) of each, or None where
# only kinds count. source: None of an example
Labelled = collections.namedtuple('Labelled', 'name command tool kinds places source')

EXAMPLES = [
    ('overrun', 'memcheck', 'oob-write'), ('merge_sort', 'memcheck', 'oob-read oob-write'),
    ('merge_sort', 'initcheck', 'uninit-use'),
    ('merge_sort', 'racecheck', 'race-global'), ('uninitialised_sum', 'initcheck', 'uninit-use'),
    ('missing_threads', 'synccheck', 'barrier-divergence'),
    ('triangle_normals', 'fpcheck', 'fp-nan fp-div0'), ('masked_softmax', 'fpcheck', 'fp-nan'),
    ('gram_schmidt', 'fpcheck', 'fp-nan'),
    ('half_variance', 'fpcheck', 'fp-inf'), ('likelihood', 'fpcheck', 'fp-inf'), ('endless_loop',
        'synccheck', 'hang')]
TOOLS = ['memcheck', 'initcheck', 'racecheck', 'synccheck', 'fpcheck']


def examples():
    found = []
    for name, tool, kinds in EXAMPLES:
        command = programs.example(name)
        if command:
            found.append(Labelled(name, command, tool, kinds.split(), None, None))
    for name in sorted({e[0] for e in EXAMPLES}):
        command = programs.example(name + '_ok')
        found += [Labelled(name + '_ok', command, tool, [], None, None) for tool in TOOLS
                  if command]
    return found


def of_the_tests():
    """Arguments of build: nvcc compiles a program when it is first chosen."""
    if not shutil.which('nvcc'):
        return []
    found = []
    for folder in 'memcheck', 'initcheck', 'synccheck', 'racecheck':
        for f in sorted(glob.glob(os.path.join(ROOT, 'tests', folder, 'programs', '*.cu'))):
            found += [(folder, f, twin) for twin in (['', '-DTWIN'] if folder == 'synccheck'
                else [''])]
    return found


def build(folder, source, twin):
    arch = annotations.setting(source, 'arch') or '75'
    arch = arch if arch.startswith('compute_') else 'compute_' + arch
    flags = annotations.setting(source, 'nvcc') or ''
    name = '%s_%s%s' % (folder, os.path.basename(source)[:-3], twin)
    exe = programs.build(name, [source], 'tests/lib/nvcc -w -g -O3 --extended-lambda -lineinfo '
                         '-DARCH=%s %s %s '
                         '-gencode arch=%s,code=%s -o "$1" "$TEST_FILE"' % (arch[8:], twin, flags,
                             arch, arch))
    places = [] if twin else [(m.kind, m.line) for m in annotations.marks(source)]
    kinds = sorted({k for k, _ in places})
    return exe and Labelled(name, [exe], folder, kinds, None if folder == 'synccheck' else places,
                            source)
