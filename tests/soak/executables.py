#!/usr/bin/env python3
"""Mutated executables, fatbins and cubins: `warpgrind image` lists and extracts them, and programs
run with changed CUDA code, symbols and debug information.

Code that the processor executes stays as it is, so that a crash is always ours."""
import glob
import os
import shutil
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, 'lib'), os.path.join(HERE, '..', 'lib')]
import elf  # noqa: E402
import mutate  # noqa: E402
import programs  # noqa: E402
from attack import ROOT, Attack, warpgrind  # noqa: E402

EXAMPLES = ['overrun', 'uninitialised_sum', 'missing_threads', 'likelihood', 'negative_hash']
IMAGE_CODES = {0, 1, 125}
RUN_CODES = {0, 1, 99, 125}                # of the program, or ours


def nvcc_program():
    """One that nvcc built, with a compressed fatbin and the runtime linked in; None without nvcc.
    """
    if not shutil.which('nvcc'):
        return None
    source = os.path.join(ROOT, 'examples/overrun/overrun.cu')
    return programs.build('overrun_nvcc', [source], 'tests/lib/nvcc -g -lineinfo -O3 -gencode '
                          'arch=compute_75,code=[compute_75,sm_75] -o "$1" "$TEST_FILE"')


def material():
    files = glob.glob(os.path.join(ROOT, 'tests/fuzz/seeds/cubin/*')) + glob.glob(os.path.join(ROOT,
        'tests/fuzz/seeds/fatbin/*'))
    images = [(f, False) for f in sorted(files)]
    built = [p[0] for p in map(programs.example, EXAMPLES) if p] + [nvcc_program()]
    return images + [(f, True) for f in built if f] * 2


def change(data, rng, is_program):
    changes = rng.choice([1, 1, 2, 4, 8, 20])
    if not is_program:
        return mutate.data(data, rng, changes)
    # Ranges of a program keep their length: what lies behind them is loaded.
    ranges = elf.quiet_bytes(data)
    fatbin = [(s.offset, s.offset + s.size) for s in elf.sections(data) if s.name == '.nv_fatbin']
    b = bytearray(data)
    for _ in range(changes):
        start, end = rng.choice(fatbin if fatbin and rng.random() < 0.6 else ranges)
        if rng.random() < 0.5:
            end = min(end, start + 256)
        piece = mutate.data(bytes(b[start:end]), rng, 1)
        b[start:start + len(piece)] = piece
    return bytes(b)


def main():
    a = Attack(__doc__)
    files = material()
    for rng in a.cases():
        source, is_program = rng.choice(files)
        with open(source, 'rb') as f:
            original = f.read()
        data = change(original, rng, is_program)
        path = a.path(os.path.basename(source))
        with open(path, 'wb') as f:
            f.write(data)
        os.chmod(path, 0o755)
        r = a.run(warpgrind('image', path), timeout=10)
        a.must_hold(r, IMAGE_CODES, 'image ' + os.path.basename(source))
        if rng.random() < 0.3:
            r = a.run(warpgrind('image', '--extract=' + a.path('extracted'), path), timeout=10)
            a.must_hold(r, IMAGE_CODES, 'image --extract ' + os.path.basename(source))
        if is_program:
            tool = rng.choice(['none', 'memcheck', 'racecheck', 'initcheck', 'all'])
            r = a.run(warpgrind('--device=cpu', '--tool=' + tool, '--hang-timeout=1',
                                '--hang-action=stop', '--', path), timeout=20, cwd=a.folder)
            # A function of NVIDIA's runtime that has lost its name is called as it is, and finds
            # its other half replaced.
            lost = elf.functions(original, ('cuda', '__cuda')) != elf.functions(data,
                ('cuda', '__cuda'))
            a.must_hold(r, RUN_CODES | {128 + 11} if lost else RUN_CODES, '%s under %s'
                        % (os.path.basename(source), tool))
            a.count('programs with exit code %d' % r.code)
    a.finish()


main()
