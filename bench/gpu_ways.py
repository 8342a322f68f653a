"""Programs on the GPU, plain and under tools: kernel times measured the same way in all of them,
results compared, findings listed.

Used by bench/gpu_programs and bench/gpu_corpus. Environment:
  BUILD     where Warpgrind was built
  WAYS what to compare with plain runs, with spaces between: none, count, memcheck or any other list
  for --tool (memcheck,initcheck);
            TOOL-full: --fp-mode=full; record: --record, inputs: --record=inputs, hash: --hash, all
            three with a run file and no tool; jit: the driver compiles the PTX; sanitizer-TOOL:
            NVIDIA's compute-sanitizer
            TOOL@NAME=VALUE: with this variable set
  ROUNDS    how often everything is measured (1): the shortest time counts
  LIMIT     seconds a run may take (30); FIRST_LIMIT: the first one, which compiles (as LIMIT)
  BUDGET seconds after which no further program is begun; the table has those that were measured (no
  limit)
  JOBS      how many programs are built, and run for the first time, at once (all cores)
  GPU_FAKE  the virtual device plays the GPU, to test these scripts
"""
import collections
import concurrent.futures
import contextlib
import json
import math
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, 'tools'))
from corpus_runs import corpus, lasting, run  # noqa: E402

WRAPPED = ('__cudaLaunchKernel', 'cudaLaunchKernel', 'cudaLaunchCooperativeKernel',
           'cudaLaunchKernelExC', 'cudaMemcpy', 'cudaDeviceReset')
RECORDED = {'record': '--record', 'inputs': '--record=inputs', 'hash': '--hash'}
FOUND = 99   # Warpgrind's exit code if there are findings

# keys of a run file's own facts about its trace
OF_TRACE = ('trace_records', 'trace_operations', 'trace_bytes', 'trace_raw_bytes', 'trace_lost')

# ms None: it has none; numbers: bench/gpu/timer.cu
Measured = collections.namedtuple('Measured', 'code text ms numbers wall')


class Program:
    """A built program; call: what a shell runs in the folder."""

    def __init__(self, name, folder, call, environment=None):
        self.name, self.folder, self.call, self.environment = name, folder, call, environment or {}


class Bench:
    def __init__(self, name, ways):
        self.fake = bool(os.environ.get('GPU_FAKE'))
        self.build = os.path.abspath(os.environ.get('BUILD') or os.path.join(ROOT, 'build'))
        self.warpgrind = os.path.join(self.build, 'warpgrind')
        self.work = os.path.join(self.build, 'bench', name)
        self.ways = (os.environ.get('WAYS') or ways).split()
        self.rounds = int(os.environ.get('ROUNDS') or 1)
        self.limit = float(os.environ.get('LIMIT') or 30)
        self.first_limit = float(os.environ.get('FIRST_LIMIT') or self.limit)
        self.budget = float(os.environ.get('BUDGET') or 'inf')
        self.started = time.time()
        self.jobs = int(os.environ.get('JOBS') or os.cpu_count())
        self.runs = collections.defaultdict(list)   # (program, way): what was measured
        self.ways = [w for w in self.ways if w not in ('plain', 'again')]
        self.missing = [w for w in self.ways if w.startswith('sanitizer-') and (self.fake
            or not shutil.which('compute-sanitizer'))]
        shutil.rmtree(self.work, ignore_errors=True)
        for folder in ('log', 'ptx'):
            os.makedirs(os.path.join(self.work, folder))
        os.environ['WARPGRIND_CACHE_DIR'] = os.path.join(self.work, 'cache')
        os.environ['CUDA_CACHE_PATH'] = os.path.join(self.work, 'driver-cache')

    def code_flags(self):
        return ['-arch=compute_90'] if self.fake else ['-gencode',
            'arch=compute_90,code=[compute_90,sm_90]']

    def timer_flags(self):
        """Flags for nvcc that link the timer into a program; -Xlinker has no effect where nothing
        is linked."""
        timer = os.path.join(self.work, 'timer.o')
        if not os.path.exists(timer):
            subprocess.check_call(['nvcc', '-w', '-O2'] + self.code_flags() + ['-c', '-o', timer,
                os.path.join(ROOT, 'bench/gpu/timer.cu')])
        return [w for f in WRAPPED for w in ('-Xlinker', '--wrap=' + f)] + ['-Xlinker', timer]

    # --- one run ---

    def base(self, program, way):
        return os.path.join(self.work, 'log', re.sub(r'[^\w.-]', '_', '%s.%s' % (program.name,
            way)))

    def command(self, program, way):
        base = self.base(program, way)
        if way in ('plain', 'jit'):
            if self.fake:
                return '%s --device=cpu --tool=none -q --log-file=/dev/null -- %s' % (
                    self.warpgrind, program.call)
            return program.call
        if way.startswith('sanitizer-'):
            return 'compute-sanitizer --tool %s --log-file %s.log %s' % (way[10:], base,
                program.call)
        way = way.partition('@')[0]
        tool, more = (way[:-5], '--fp-mode=full') if way.endswith('-full') else (way, '')
        if way in RECORDED:
            tool, more = 'none', '%s -o %s.wg' % (RECORDED[way], base)
        return ('%s --device=%s --tool=%s %s --error-exitcode=%d --log-file=%s.log '
                '--json=%s.json -- %s') % (
            self.warpgrind, 'cpu' if self.fake else 'gpu', tool, more, FOUND, base, base,
            program.call)

    def measure(self, program, way, limit=None):
        base = self.base(program, way)
        for ending in ('.times', '.log', '.json'):
            if os.path.exists(base + ending):
                os.unlink(base + ending)
        environment = dict(os.environ, GPU_TIMES=base + '.times', **program.environment)
        if way == 'jit':
            environment['CUDA_FORCE_PTX_JIT'] = '1'
        variable, _, value = way.partition('@')[2].partition('=')
        if variable:
            environment[variable] = value
        start = time.time()
        code, text = run(self.command(program, way), program.folder, limit or self.limit,
                         environment)
        wall = time.time() - start
        with open(base + '.out', 'w') as f:
            f.write(text)
        numbers = {}
        if os.path.exists(base + '.times'):
            with open(base + '.times') as f:
                words = f.readline().split()
            numbers = dict(zip(words[::2], words[1::2]))
        ms = float(numbers['kernel_ms']) if numbers else None
        if os.path.exists(base + '.wg'):
            numbers.update(of_run_file(base + '.wg'))
            os.unlink(base + '.wg')
        if ms is not None and self.fake:   # small programs, which may launch each kernel once
            ms += float(numbers['first_ms'])
        return Measured(code, text, ms, numbers, wall)

    # --- all of them ---

    def run_all(self, programs):
        ways = [w for w in self.ways if w not in self.missing]
        if self.fake:   # nothing is kept for a second start there
            first = [(p, 'plain') for p in programs]
        else:           # fills the caches of compiled code
            # recording is long, and its code small
            first = [(p, w) for p in programs for w in ['plain'] + [w for w in ways
                if not w.startswith('sanitizer-') and w not in RECORDED]]
        self.first = {}
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            jobs = {pool.submit(self.measure, p, w, self.first_limit): (p, w) for p, w in first}
            for job, (p, w) in jobs.items():
                self.first[p, w] = job.result()
        left_out = []

        def stop(*_):                       # timeout(1): the table has what was measured
            self.budget = 0
            raise InterruptedError
        signal.signal(signal.SIGTERM, stop)
        for p in programs:
            if time.time() - self.started > self.budget:
                left_out.append(p)
                continue
            try:
                self.measure_all(p, ways)
            except InterruptedError:
                left_out.append(p)
        for p in left_out:
            programs.remove(p)
            print('not measured, the time was up: %s' % p.name)

    def measure_all(self, program, ways):
        for _ in range(self.rounds):
            for way in ['plain'] + ways:
                before = self.runs[program, way]
                if not any(m.code is None for m in before):
                    before.append(self.measure(program, way))

    def best(self, program, way):
        """The run with the shortest kernel time; None: none has one."""
        measured = [m for m in self.runs[program, way] if m.code is not None and m.ms]
        return min(measured, key=lambda m: m.ms) if measured else None

    def findings(self, program, way):
        """How many there are and the first of them; '' if there are none."""
        base = self.base(program, way)
        try:
            if way.startswith('sanitizer-'):
                with open(base + '.log', errors='replace') as f:
                    lines = [re.sub(r'^=+\s*', '', l).strip() for l in f]
                summary = next((l for l in lines if 'SUMMARY' in l), 'no summary')
                told = [l for l in lines if l and not re.match(r'COMPUTE-SANITIZER|[A-Z ]*SUMMARY',
                    l)]
                return '' if re.search(r'SUMMARY: 0 ',
                                       summary) and not told else '%s; first: %s' % (summary,
                                           told[0] if told else '')
            with open(base + '.json') as f:
                report = json.load(f)
        except (OSError, ValueError):
            return '' if way in ('plain', 'jit') else 'there is no report'
        said = []
        for severity in ('error', 'warning'):
            of_it = [f for f in report['findings'] if f['severity'] == severity]
            if of_it:
                f = of_it[0]
                place = ' at %s:%s in %s' % (os.path.basename(f['file']), f.get('line'),
                                             f.get('kernel_readable') or f.get('kernel')) if f.get(
                                                 'file') else ''
                said.append('%d %ss; first: %s%s' % (len(of_it), severity, f['kind'], place))
        if report['coverage']['uncovered']:
            said.append('%d kernels not covered' % len(report['coverage']['uncovered']))
        return '; '.join(said)

    def difference(self, program, way):
        """'' if the results are those of the plain run, else what is not the same."""
        plain, ours = self.runs[program, 'plain'][0], self.runs[program, way][-1]
        if ours.code is None:
            return 'not ended after %g s' % self.limit
        if ours.code != plain.code and not (ours.code == FOUND and self.findings(program, way)):
            return 'exit code %d, plain %s: %s' % (ours.code, plain.code,
                (ours.text.strip().splitlines() or [''])[-1][:100])
        again = self.first.get((program, 'plain'), plain)
        if ours.numbers.get('digest') != plain.numbers.get('digest'):
            if again.numbers.get('digest') == plain.numbers.get('digest'):
                return 'data copied from the device differs'
        if lasting(ours.text) != lasting(plain.text) and lasting(again.text) == lasting(plain.text):
            pair = next(((a, b) for a, b in zip(lasting(plain.text), lasting(ours.text)) if a != b),
                        ('', 'fewer or more lines'))
            return 'plain "%s", here "%s"' % tuple(p.strip()[:70] for p in pair)
        return ''

    def steady(self, program):
        """Whether two plain runs do the same."""
        a, b = self.first[program, 'plain'], self.runs[program, 'plain'][0]
        if b.numbers.get('copies', '0') != '0':
            return a.numbers.get('digest') == b.numbers.get('digest')
        return lasting(a.text) == lasting(b.text)

    # --- tables ---

    def print_table(self, programs):
        """Returns whether every result was the same."""
        ways = [w for w in self.ways if w not in self.missing]
        ratios, walls, notes, same = collections.defaultdict(list), collections.defaultdict(list), [
            ], True
        print('| program | launches | plain, ms | %s | results |' % ' | '.join(ways))
        print('|---' * (len(ways) + 4) + '|')
        for p in programs:
            plain = self.best(p, 'plain')
            if plain is None:
                end = self.runs[p, 'plain'][0]
                print('| %s | | no kernel time | %s | not measured |' % (p.name,
                    ' | '.join('' for _ in ways)))
                last = ' / '.join(end.text.strip().splitlines()[-2:])[:160]
                notes.append('%s: plain: %s' % (p.name, 'not ended after %g s' % self.limit
                                                if end.code is None
                                                else 'exit code %d, no kernel ran twice: %s'
                                                % (end.code, last)))
                same = False
                continue
            if re.search(r'\bFAIL', plain.text):
                notes.append('%s: fails its own check in the plain run' % p.name)
            cells, different = [], []
            for way in ways:
                ours = self.best(p, way)
                what = self.difference(p, way)
                if ours and not (what and self.runs[p, way][-1].code is None):
                    ratio = ours.ms / plain.ms
                    ratios[way].append((ratio, p.name))
                    walls[way].append(ours.wall / plain.wall)
                    cells.append('%.2f' % ratio)
                else:
                    cells.append('> %.0f s' % self.limit if self.runs[p, way][-1].code is None
                                 else 'failed')
                if what:
                    different.append(way)
                    notes.append('%s: %s: %s' % (p.name, way, what))
                said = self.findings(p, way)
                if said:
                    notes.append('%s: %s: %s' % (p.name, way, said))
            verdict = 'differ: ' + ', '.join(different) if different else 'same' if self.steady(
                p) else 'two plain runs differ'
            same = same and not different
            print('| %s | %s | %.3f | %s | %s |' % (p.name, plain.numbers['launches'], plain.ms,
                ' | '.join(cells), verdict))

        def mean(values):
            return '%.2f' % math.exp(sum(math.log(v)
                                         for v in values) / len(values)) if values else ''
        print('| geometric mean | | | %s | |' % ' | '.join(mean([r for r, _ in ratios[w]])
            for w in ways))
        print('| worst | | | %s | |' % ' | '.join('%.2f (%s)' % max(ratios[w]) if ratios[w] else ''
                                                  for w in ways))
        print('| whole process, geometric mean | | | %s | |' % ' | '.join(mean(walls[w])
            for w in ways))
        print('\nDifferences and findings:%s' % ('' if notes else ' none'))
        for note in notes:
            print('- ' + note)
        for way in self.missing:
            print('- %s: there is no compute-sanitizer here' % way)
        self.write_numbers(programs)
        return same

    def write_numbers(self, programs):
        """Every measured run, for those who want to look closer."""
        path = os.path.join(self.work, 'numbers.tsv')
        keys = ('kernel_ms', 'first_ms', 'longest_ms', 'call_ms', 'launches', 'kernels', 'copies',
                'digest', 'file_bytes') + OF_TRACE
        with open(path, 'w') as f:
            f.write('\t'.join(('program', 'way', 'exit', 'wall_s') + keys) + '\n')
            for p in programs:
                for way in ['plain'] + self.ways:
                    for m in self.runs.get((p, way), []):
                        f.write('\t'.join([p.name, way, str(m.code), '%.3f' % m.wall]
                                          + [m.numbers.get(k, '') for k in keys]) + '\n')
        print('\nEvery run: %s' % os.path.relpath(path))


def of_run_file(path):
    numbers = {'file_bytes': str(os.path.getsize(path))}
    try:
        with contextlib.closing(sqlite3.connect(path)) as db:
            numbers.update((k, str(v)) for k, v in db.execute('SELECT key, value FROM meta')
                           if k in OF_TRACE)
    except sqlite3.Error as e:
        numbers['trace_records'] = str(e)
    return numbers


def in_parallel(bench, function, items):
    with concurrent.futures.ThreadPoolExecutor(bench.jobs) as pool:
        return list(pool.map(function, items))
