#!/usr/bin/env python3
"""Random kernels, and which of their accesses race.

oracle.py make SEED COUNT BLOCKS THREADS KERNELS.ptx MODEL.json
oracle.py compare MODEL.json REPORT.json... one line for each finding that is none of the model's
races, and for each kernel with races of which none was found

A kernel is a list of steps that all threads go through: accesses by some of them, barriers, flags
that one thread sets and others wait for, loops over memory.
Going through the steps in order is one of the orders in which it may happen, and gives each access
a vector clock, which is exact: two accesses of one byte race
if none is before the other, one of them writes and not both are atomic.
"""
import json
import random
import sys

GLOBAL, SHARED = 'global', 'shared'


class Kernel:
    def __init__(self, number, rng, blocks, threads):
        self.number, self.rng, self.blocks, self.threads = number, rng, blocks, threads
        self.lines, self.events, self.hidden = [], [], False
        n = blocks * threads
        self.clock = [[0] * n for _ in range(n)]
        for t in range(n):
            self.clock[t][t] = 1
        self.flags = self.labels = 0
        self.sites = []
        self.uses_flags = self.uses_bytes = False

    # --- order ---
    def join(self, group):
        top = [max(c) for c in zip(*(self.clock[t] for t in group))]
        for t in group:
            self.clock[t] = list(top)
            self.clock[t][t] += 1

    def groups(self, size):
        for first in range(0, self.blocks * self.threads, self.threads):
            for g in range(first, first + self.threads, size):
                yield range(g, min(g + size, first + self.threads))

    # --- text ---
    def emit(self, text):
        self.lines.append('\t' + text)

    def label(self):
        self.labels += 1
        return '$L%d' % self.labels

    # Which threads: sets %p0 to it.
    def choose(self):
        kind = self.rng.randrange(6)
        if kind == 0:
            self.emit('setp.eq.u32 %p0, %gid, %gid;')
            return lambda t: True
        if kind == 1:
            a = self.rng.randrange(self.blocks * self.threads)
            self.emit('setp.eq.u32 %%p0, %%gid, %d;' % a)
            return lambda t: t == a
        if kind == 2:
            a = self.rng.randrange(1, self.threads)
            self.emit('setp.lt.u32 %%p0, %%t, %d;' % a)
            return lambda t: t % self.threads < a
        if kind == 3:
            w = self.rng.randrange(max(1, self.threads // 32))
            self.emit('shr.u32 %r0, %t, 5;')
            self.emit('setp.eq.u32 %%p0, %%r0, %d;' % w)
            return lambda t: t % self.threads // 32 == w
        if kind == 4:
            b = self.rng.randrange(self.blocks)
            self.emit('setp.eq.u32 %%p0, %%b, %d;' % b)
            return lambda t: t // self.threads == b
        a = self.rng.randrange(self.threads)
        self.emit('setp.eq.u32 %%p0, %%t, %d;' % a)
        return lambda t: t % self.threads == a

    # --- steps ---
    def touch(self, site, threads, place, size, writes, atomic):
        for t in threads:
            at = place(t)
            block = t // self.threads if self.sites[site]['space'] == SHARED else -1
            for byte in range(at, at + size):
                self.events.append((block, byte, t, self.clock[t][t], tuple(self.clock[t]), writes,
                                    atomic, site))

    def site(self, space):
        self.sites.append({'line': len(self.lines), 'space': space})
        return len(self.sites) - 1

    def access(self):
        space, what = self.rng.choice([GLOBAL, GLOBAL, SHARED]), self.rng.choice(['read', 'read',
            'write', 'atomic'])
        size = self.rng.choice([4, 4, 4, 8, 1, 2]) if what != 'atomic' else 4
        who = self.choose()
        threads = [t for t in range(self.blocks * self.threads) if who(t)]
        base, form = 8 * self.rng.randrange(4), self.rng.randrange(4)
        part = self.rng.randrange(0, 4, size) if size < 4 else 0
        self.uses_bytes |= size < 4
        if form == 0:
            place = lambda t: base + part
            self.emit('mov.u32 %%r1, %d;' % (base + part))
        elif form == 1:
            m = self.rng.choice([2, 4, 8])
            place = lambda t: base + part + 8 * (t % self.threads % m)
            self.emit('and.b32 %%r1, %%t, %d;' % (m - 1))
            self.emit('mad.lo.u32 %%r1, %%r1, 8, %d;' % (base + part))
        elif form == 2:
            place = lambda t: 256 + part + 8 * (t % self.threads)
            self.emit('mad.lo.u32 %%r1, %%t, 8, %d;' % (256 + part))
        else:
            shift = self.rng.choice([0, 0, 8, 32 * 8])
            where = (lambda t: t % self.threads) if space == SHARED else (lambda t: t)
            place = lambda t: 1024 + shift + part + 8 * where(t)
            self.emit('mad.lo.u32 %%r1, %%%s, 8, %d;' % ('t' if space == SHARED else 'gid',
                1024 + shift + part))
        if space == SHARED:
            self.emit('add.u32 %r2, %r1, %s0;')
            address = '[%r2]'
        else:
            self.emit('cvt.u64.u32 %rd1, %r1;')
            self.emit('add.u64 %rd1, %rd1, %data;')
            address = '[%rd1]'
        self.emit('mad.lo.u32 %%r3, %%gid, 77, %d;' % (1000 * len(self.sites)))
        self.emit('cvt.u64.u32 %rd2, %r3;')
        value = '%rd2' if size == 8 else '%r3'
        text = {'read': 'ld.%s.u%d %s, %s' % (space, 8 * size, '%rd3' if size == 8 else '%r4',
                                              address),
                'write': 'st.%s.u%d %s, %s' % (space, 8 * size, address, value),
                'atomic': 'atom.%s.add.u32 %%r4, %s, %s' % (space, address, value)}[what]
        self.emit('@%%p0 %s;' % text)
        self.touch(self.site(space), threads, place, size, what != 'read', what == 'atomic')

    def barrier(self):
        self.emit('bar.sync 0;')
        for g in self.groups(self.threads):
            self.join(g)

    def sync_warp(self):
        self.emit('bar.warp.sync 0xffffffff;')
        for g in self.groups(32):
            self.join(g)

    # One thread sets it, others wait: what was before is before what comes.
    def flag(self):
        if self.flags == 16:
            return
        self.uses_flags = True
        n = self.blocks * self.threads
        giver, at = self.rng.randrange(n), 4 * self.flags
        taker = self.rng.choice([t for t in range(n) if t != giver])
        self.flags += 1
        wait, over = self.label(), self.label()
        self.emit('setp.eq.u32 %%p0, %%gid, %d;' % giver)
        self.emit('@%p0 membar.gl;')
        self.emit('@%%p0 st.volatile.global.u32 [%%flags+%d], 1;' % at)
        self.emit('setp.ne.u32 %%p0, %%gid, %d;' % taker)
        self.emit('@%%p0 bra %s;' % over)
        self.lines.append(wait + ':')
        self.emit('ld.volatile.global.u32 %%r4, [%%flags+%d];' % at)
        self.emit('setp.eq.u32 %p0, %r4, 0;')
        self.emit('@%%p0 bra %s;' % wait)
        self.emit('membar.gl;')
        self.lines.append(over + ':')
        self.clock[taker] = [max(a, b) for a, b in zip(self.clock[taker], self.clock[giver])]
        self.clock[taker][taker] += 1
        self.clock[giver][giver] += 1

    # Threads walk over memory: whether they meet is for the analysis of addresses to say.
    def walk(self, writes):
        rng = self.rng
        width, step = rng.choice([4, 8]), rng.choice([1, 2, 4, -1, 16, 64])
        turns, by_parameter = rng.choice([(5, True), (3, False), (8, False)])
        of_thread = rng.choice([0, 1, 1, 2, 4, 5, 8])
        of_block = rng.choice([0, of_thread * self.threads, self.threads, 8, 160])
        start = 64 + rng.randrange(8) + (turns if step < 0 else 0)
        limit = rng.choice([self.threads, self.threads, rng.randrange(1, self.threads + 1), 1])
        threads = [t for t in range(self.blocks * self.threads) if t % self.threads < limit]
        loop, over = self.label(), self.label()
        self.emit('setp.ge.u32 %%p0, %%t, %d;' % limit)
        self.emit('@%%p0 bra %s;' % over)
        self.emit('mad.lo.u32 %%r1, %%t, %d, %d;' % (of_thread, start))
        self.emit('mad.lo.u32 %%r1, %%b, %d, %%r1;' % of_block)
        self.emit('mov.u32 %r5, 0;')
        if by_parameter:
            self.emit('mov.u32 %r6, %n;')
        else:
            self.emit('mov.u32 %%r6, %d;' % turns)
        pointer = rng.random() < 0.5
        if pointer:
            self.emit('mul.wide.s32 %%rd1, %%r1, %d;' % width)
            self.emit('add.u64 %rd1, %rd1, %data;')
        self.lines.append(loop + ':')
        if not pointer:
            self.emit('mad.lo.s32 %%r2, %%r5, %d, %%r1;' % step)
            self.emit('mul.wide.s32 %%rd1, %%r2, %d;' % width)
            self.emit('add.u64 %rd1, %rd1, %data;')
        both = writes and rng.random() < 0.5
        sites = []
        value = '%rd2' if width == 8 else '%r3'
        self.emit('mad.lo.u32 %%r3, %%gid, 77, %d;' % (1000 * len(self.sites)))
        self.emit('cvt.u64.u32 %rd2, %r3;')
        if both or not writes:
            self.emit('ld.global.u%d %s, [%%rd1];' % (8 * width, '%rd3' if width == 8 else '%r4'))
            sites.append((self.site(GLOBAL), False))
        if writes:
            self.emit('st.global.u%d [%%rd1], %s;' % (8 * width, value))
            sites.append((self.site(GLOBAL), True))
        if pointer:
            self.emit('add.s64 %%rd1, %%rd1, %d;' % (width * step))
        self.emit('add.u32 %r5, %r5, 1;')
        self.emit('setp.lt.u32 %p0, %r5, %r6;')
        self.emit('@%%p0 bra %s;' % loop)
        self.lines.append(over + ':')
        for i in range(turns):
            place = lambda t: width * (start + of_thread * (t % self.threads)
                                       + of_block * (t // self.threads) + step * i)
            for site, is_write in sites:
                self.touch(site, threads, place, width, is_write, False)

    def build(self):
        if self.rng.random() < 0.4:
            for _ in range(self.rng.randrange(1, 4)):
                self.walk(self.rng.random() < 0.7)
            return
        uses = self.rng.choice([[self.access], [self.access, self.access, self.barrier],
                                [self.access, self.access, self.barrier, self.sync_warp],
                                [self.access, self.access, self.access, self.flag, self.barrier]])
        for _ in range(self.rng.randrange(3, 14)):
            self.rng.choice(uses)()

    def text(self):
        head = ['.visible .entry k%d(.param .u64 data, .param .u64 flags, .param .u32 n)'
                % self.number, '{',
                '\t.reg .pred %p<2>; .reg .b32 %r<8>, %t, %b, %gid, %n, %s0; .reg .b64 %rd<6>, '
                '%data, %flags;', '\t.shared .align 16 .b8 shared[4096];',
                '\tld.param.u64 %data, [data];', '\tld.param.u64 %flags, [flags];',
                '\tld.param.u32 %n, [n];', '\tcvta.to.global.u64 %data, %data;',
                '\tcvta.to.global.u64 %flags, %flags;', '\tmov.u32 %t, %tid.x;',
                '\tmov.u32 %b, %ctaid.x;', '\tmad.lo.u32 %%gid, %%b, %d, %%t;' % self.threads,
                '\tmov.u32 %s0, shared;']
        return head, head + self.lines + ['\tret;', '}']

    def races(self):
        found, at = set(), {}
        for e in self.events:
            at.setdefault(e[:2], []).append(e)
        for events in at.values():
            for i, (_, _, t, own, clock, writes, atomic, site) in enumerate(events):
                for _, _, u, _, later, w2, a2, s2 in events[i + 1:]:
                    if t != u and (writes or w2) and not (atomic and a2) and later[t] < own and (
                        min(site, s2), max(site, s2)) not in found:
                        found.add((min(site, s2), max(site, s2)))
        return sorted(found)


def make(seed, count, blocks, threads, ptx, model):
    lines = ['.version 7.0', '.target sm_75', '.address_size 64']
    kernels = []
    for i in range(count):
        k = Kernel(i, random.Random('%d %d' % (seed, i)), blocks, threads)
        k.build()
        head, text = k.text()
        first = len(lines) + len(head)
        lines += text
        kernels.append({'kernel': 'k%d' % i, 'lines': [first + s['line'] for s in k.sites],
                        'races': k.races(), 'flags': k.uses_flags, 'bytes': k.uses_bytes})
    open(ptx, 'w').write('\n'.join(lines) + '\n')
    json.dump(kernels, open(model, 'w'))


def compare(model, reports):
    kernels = {k['kernel']: k for k in json.load(open(model))}
    found, wrong = set(), 0
    for report in reports:
        for f in json.load(open(report))['findings']:
            k = kernels.get(f.get('kernel'))
            mine, other = f.get('ptx_line'), f.get('other', {}).get('ptx_line')
            if not f['kind'].startswith('race-') or not k:
                print('not a race:', f['kind'], f.get('kernel'))
                wrong += 1
                continue
            pairs = [(k['lines'][a], k['lines'][b]) for a, b in k['races']]
            if not any(mine in p and (other is None or other in p and (mine != other
                or p[0] == p[1])) for p in pairs):
                print('not a race: %s line %s with line %s (%s)' % (k['kernel'], mine, other,
                    f['kind']))
                wrong += 1
            found.add(k['kernel'])
    racy = [k for k in kernels.values() if k['races']]
    missed = [k for k in racy if k['kernel'] not in found]
    for k in missed:
        print('missed: %s%s%s' % (k['kernel'], ', flags' if k['flags'] else '', ', bytes'
                                  if k['bytes'] else ''))
    print('%d kernels, %d with races, %d found, %d missed (%d without flags), %d wrong' %
          (len(kernels), len(racy), len(racy) - len(missed), len(missed), sum(not k['flags']
              for k in missed), wrong))


if sys.argv[1] == 'make':
    make(*map(int, sys.argv[2:6]), *sys.argv[6:8])
else:
    compare(sys.argv[2], sys.argv[3:])
