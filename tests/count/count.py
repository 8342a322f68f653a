#!/usr/bin/env python3
"""count.py FILE.cu REPORT.json: the counts of the marked lines equal their formulas."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import annotations  # noqa: E402

n, launched = 901, 10 * 96
tiles = 9 * 256 * 3                         # threads times rounds
# mark: (loads, load bytes, stores, store bytes, atomics)
expected = {
    'saxpy': (3 * 2 * n, 3 * 8 * n, 3 * n, 3 * 4 * n, 0),
    'load_a': (tiles, 4 * tiles, tiles, 4 * tiles, 0),
    'load_b': (tiles, 4 * tiles, tiles, 4 * tiles, 0),
    'store_c': (0, 0, 48 * 48, 4 * 48 * 48, 0),
    'vectors': (100, 1600, 100, 1600, 0),
    'atomics': (0, 0, 0, 0, 5 * 13),
    'pointers': (40 + 40, 40 * 4 + 40 * 8, 40, 160, 0),
    'recursion': (0, 0, 66, 264, 0),
    'child': (64 * 13, 256 * 13, 64 * 13, 256 * 13, 0),
    'again': (0, 0, 0, 0, 1 + 2 + 4 + 8 + 16),
}
marks = {name: line for line, key, name in annotations.read(sys.argv[1]) if line and key == 'label'}
keys = ('loads', 'load_bytes', 'stores', 'store_bytes', 'atomics')
sums = {}
barriers = calls = 0
for row in json.load(open(sys.argv[2]))['counts']:
    if not row.get('file', '').endswith('.cu'):
        continue
    sums[row['line']] = [x + row[k] for x, k in zip(sums.get(row['line'], [0] * 5), keys)]
    if row['line'] == marks.get('barrier'):
        barriers += row['classes'].get('sync', 0)
    if row['instructions'] > 32 * row['warp_instructions']:
        print('FAIL more threads than warps have:', row)
for mark, line in marks.items():
    if mark == 'barrier':
        print('ok barrier' if barriers == tiles else f'FAIL barrier: {barriers}, expected {tiles}')
        continue
    got, want = tuple(sums.get(line, ())), expected[mark]
    print(f'ok {mark}' if got == want else f'FAIL {mark}: {got}, expected {want}')
