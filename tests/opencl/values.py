"""Built-ins of OpenCL C 1.2 that work on vectors as such, against references in Python: relational
functions, select, geometric functions, vload and vstore, shuffles, functions with pointers, mixed
arguments, native_ and half_ functions, atomics, asynchronous copies.

values.py [FAMILY …]    prints how many overloads were tested, and each that differs."""
import fractions
import itertools
import math
import os
import random
import sys

from host import INTEGERS, REALS, SIZES, WIDTHS, Host, pack, unpack, vector

COUNT = 240  # numbers of an array: a multiple of all widths
SIGNED = dict(float='int', double='long', half='short')
HALF_NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 65504.0, 6e-8, -6.1e-5, math.inf, -math.inf,
                math.nan, 100.25, 1.5)
FLOAT_NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.0, 3.4e38, 1e-45, -1e-40, math.inf, -math.inf,
                 math.nan, 1e10, 1.17549435e-38)
DOUBLE_NUMBERS = FLOAT_NUMBERS[:7] + (1.7e308, 5e-324, -1e-310, math.inf, -math.inf, math.nan,
                                      1e200, 2.2250738585072014e-308)


def rounded(name, x):
    """x as a number of this type."""
    try:
        return unpack(name, pack(name, [x]))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def edges_of(name):
    if name in INTEGERS:
        bits = SIZES[name] * 8
        low, high = (0, 2 ** bits - 1) if name[0] == 'u' else (-2 ** (bits - 1),
                                                               2 ** (bits - 1) - 1)
        return (0, 1, low, high, high // 3, high - 1, low + 1, 85, 2, 7, high // 2, 100, 64, 3, 5)
    return dict(float=FLOAT_NUMBERS, double=DOUBLE_NUMBERS, half=HALF_NUMBERS)[name]


def pairs_of(name):
    """Two arrays with all pairs of edge values, as far as they fit: 15 times 15, and 15 more."""
    edges = [rounded(name, e) for e in edges_of(name)]
    pairs = list(itertools.product(edges, edges)) + list(zip(edges, edges))
    return [a for a, _ in pairs], [b for _, b in pairs]


def random_of(name, seed, low=-100.0, high=100.0):
    numbers = random.Random(seed)
    if name in INTEGERS:
        bits = SIZES[name] * 8
        low = 0 if name[0] == 'u' else -2 ** (bits - 1)
        return [numbers.randrange(low, low + 2 ** bits) for _ in range(COUNT)]
    return [rounded(name, numbers.uniform(low, high)) for _ in range(COUNT)]


def bits_of(name, x):
    return int.from_bytes(pack(name, [x]), 'little')


def from_bits(name, bits):
    return unpack(name, bits.to_bytes(SIZES[name], 'little'))[0]


def load(width, array):
    return '%s[i]' % array if width == 1 else 'vload%d(i, %s)' % (width, array)


def store(width, value):
    return 'out[i] = %s;' % value if width == 1 else 'vstore%d(%s, i, out);' % (width, value)


class Case:
    """A kernel, its inputs and what it is to write. near: whether two numbers agree."""

    def __init__(self, name, parameters, body, items, inputs, result, want, near=None, group=None):
        self.name, self.items, self.inputs, self.group = name, items, inputs, group
        self.result, self.want, self.near = result, want, near
        self.text = 'kernel void %s(%s) {\n  size_t i = get_global_id(0);\n  %s\n}\n' % (
            name, parameters, body)

    def differs(self, data):
        """Where and what: None if nothing does. What is None may be anything."""
        got = unpack(self.result, data)
        for i, (g, w) in enumerate(zip(got, self.want)):
            if w is None or g == w or (g != g and w != w) or (self.near and self.near(g, w)):
                continue
            return 'number %d is %r, not %r' % (i, g, w)
        return None


def elementwise(name, types, width, result, arrays, reference, near=None, call=None):
    """f of vectors that are all of one width; the reference takes numbers."""
    parameters = ', '.join('global const %s *%c' % (t, c) for t, c in zip(types, 'abc'))
    arguments = ', '.join(load(width, c) for _, c in zip(types, 'abc'))
    body = store(width, '%s(%s)' % (call or name, arguments))
    suffix = '_'.join(types) + '_%d' % width
    return Case('t_%s_%s' % (name, suffix), parameters + ', global %s *out' % result, body,
                COUNT // width, [pack(t, a) for t, a in zip(types, arrays)], result,
                [reference(*x) for x in zip(*arrays)], near)


# --- operators that compare ---

COMPARISONS = dict(equal=lambda a, b: a == b, less=lambda a, b: a < b, both=lambda a, b: a and b,
                   not_at_all=lambda a: not a)


def comparisons(reals):
    for name, width, f in itertools.product(INTEGERS + reals, WIDTHS, COMPARISONS):
        true, result = (1, 'int') if width == 1 else (-1, SIGNED.get(name, name.lstrip('u')))
        n = COMPARISONS[f].__code__.co_argcount
        yield elementwise(f, [name] * n, width, result, pairs_of(name)[:n],
                          lambda *x, r=COMPARISONS[f], t=true: t * bool(r(*x)), call='COMPARE_' + f)


# --- relational functions ---

def is_normal(name, x):
    exponent = bits_of(name, x) >> dict(half=10, float=23, double=52)[name]
    most = dict(half=31, float=255, double=2047)[name]
    return 0 < exponent & most < most


RELATIONS = dict(
    isequal=lambda t, a, b: a == b, isnotequal=lambda t, a, b: a != b,
    isgreater=lambda t, a, b: a > b, isgreaterequal=lambda t, a, b: a >= b,
    isless=lambda t, a, b: a < b, islessequal=lambda t, a, b: a <= b,
    islessgreater=lambda t, a, b: a < b or a > b,
    isordered=lambda t, a, b: a == a and b == b, isunordered=lambda t, a, b: a != a or b != b)
PROPERTIES = dict(
    isfinite=lambda t, a: math.isfinite(a), isinf=lambda t, a: math.isinf(a),
    isnan=lambda t, a: a != a, isnormal=is_normal,
    signbit=lambda t, a: bits_of(t, a) >> (SIZES[t] * 8 - 1) == 1)


def relational(reals):
    for name, width in itertools.product(reals, WIDTHS):
        true = 1 if width == 1 else -1
        result = 'int' if width == 1 else SIGNED[name]
        for table, n in ((RELATIONS, 2), (PROPERTIES, 1)):
            for f, reference in table.items():
                yield elementwise(f, [name] * n, width, result, pairs_of(name)[:n],
                                  lambda *x, r=reference, t=name: true * bool(r(t, *x)))
    for name, width, f in itertools.product(INTEGERS[::2], WIDTHS, ('any', 'all')):
        array = pairs_of(name)[0]
        groups = [array[i:i + width] for i in range(0, COUNT, width)]
        test = any if f == 'any' else all
        yield Case('t_%s_%s%d' % (f, name, width), 'global const %s *a, global int *out' % name,
                   'out[i] = %s(%s);' % (f, load(width, 'a')), COUNT // width, [pack(name, array)],
                   'int', [int(test(x < 0 for x in g)) for g in groups])


def selections(reals):
    for name, width in itertools.product(INTEGERS + reals, WIDTHS):
        a, b = pairs_of(name)
        size = SIZES[name] * 8
        c = [(x * 0x9e3779b97f4a7c15 >> 7) % 2 ** size for x in range(COUNT)]
        c = [from_bits(name, x) for x in c]

        def mix(x, y, z, t=name):
            chosen = bits_of(t, z)
            return from_bits(t, bits_of(t, x) & ~chosen | bits_of(t, y) & chosen)
        yield elementwise('bitselect', [name] * 3, width, name, (a, b, c), mix)
        for chooser in INTEGERS:
            if SIZES[chooser] != SIZES[name]:
                continue
            c = pairs_of(chooser)[0]
            top = 2 ** (size - 1)

            def pick(x, y, z, scalar=width == 1, t=chooser, top=top):
                return y if (z if scalar else bits_of(t, z) & top) else x
            yield elementwise('select', [name, name, chooser], width, name, (a, b, c), pick)


# --- geometric functions ---

def near_by(ulps, name, least=0.0):
    epsilon = dict(half=2.0 ** -10, float=2.0 ** -23, double=2.0 ** -52)[name]
    return lambda g, w: abs(g - w) <= ulps * epsilon * abs(w) + least


def length_of(v):
    return math.hypot(*v)


def direction_of(v):
    size = length_of(v)
    if not math.isfinite(size):
        return [None] * len(v)  # the specification leaves it open
    return [x / size if size else x for x in v]


def geometric(reals):
    for name in reals:
        a, b = random_of(name, 1), random_of(name, 2)
        a[:16] = [0.0] * 16
        for i, scale in enumerate((1e-30, 1e25) if name == 'float' else
                                  (1e-200, 1e200) if name == 'double' else (1e-3, 100.0)):
            a[16 + 16 * i:32 + 16 * i] = [rounded(name, x * scale / 100) for x in b[:16]]
        inputs = [pack(name, a), pack(name, b)]
        for width in (1, 2, 3, 4):
            x = [a[i:i + width] for i in range(0, COUNT, width)]
            y = [b[i:i + width] for i in range(0, COUNT, width)]
            both = 'global const %s *a, global const %s *b, global %s *out' % (name, name, name)

            def case(f, want, near, n=2, whole=False):
                call = '%s(%s)' % (f, ', '.join((load(width, 'a'), load(width, 'b'))[:n]))
                want = list(itertools.chain(*want)) if whole else want
                return Case('t_%s_%s%d' % (f, name, width), both,
                            store(width, call) if whole else 'out[i] = %s;' % call,
                            COUNT // width, inputs, name, want, near)
            largest = max(map(abs, b)) * 2 * width * (50 if name == 'half' else 100)
            exact = dict(half=2.0 ** -10, float=2.0 ** -23, double=2.0 ** -52)[name]
            dots = [sum(p * q for p, q in zip(v, w)) for v, w in zip(x, y)]
            sizes = [sum(abs(p * q) for p, q in zip(v, w)) for v, w in zip(x, y)]
            margin = {}
            for d, v in zip(dots, sizes):  # products of different signs leave few digits
                key = rounded(name, d)
                margin[key] = max(v, margin.get(key, 0.0))
            yield case('dot', [rounded(name, d) for d in dots],
                       lambda g, w, m=margin, e=exact, n=width: abs(g - w) <= n * e * m[w])
            distances = [length_of([p - q for p, q in zip(v, w)]) for v, w in zip(x, y)]
            lengths = [length_of(v) for v in x]
            yield case('distance', [rounded(name, d) for d in distances],
                       near_by(4 + width, name, largest * exact))
            yield case('length', [rounded(name, d) for d in lengths], near_by(4 + width, name), 1)
            least = dict(half=6.2e-5, float=1.2e-38, double=2.3e-308)[name]
            yield case('normalize', map(direction_of, x), near_by(4 + width, name, least), 1, True)
            if name == 'float':  # 8192 units in the last place; squares may overflow
                loose = near_by(8192, name, 1e-4)
                fits = lambda d: d if 1e-10 < d < 1e10 or d == 0 else None
                yield case('fast_distance', list(map(fits, distances)), loose)
                yield case('fast_length', list(map(fits, lengths)), loose, 1)
                yield case('fast_normalize',
                           [direction_of(v) if fits(length_of(v)) is not None else [None] * width
                            for v in x], loose, 1, True)
            if width >= 3:
                def cross(v, w):
                    out = [v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2],
                           v[0] * w[1] - v[1] * w[0], 0.0]
                    return out[:width]
                products = [cross(v, w) for v, w in zip(x, y)]
                yield case('cross', [[rounded(name, p) for p in c] for c in products],
                           lambda g, w, e=exact: abs(g - w) <= 4 * e * max(1e4, abs(w)) or
                           abs(w) > 1e20, 2, True)


# --- vload and vstore, shuffles ---

def loads(reals):
    for name, width in itertools.product(INTEGERS + reals, WIDTHS[1:]):
        a = random_of(name, 3)
        used = COUNT - COUNT // 6  # one element further than a multiple of the width
        n = used // width
        want = a[1:1 + n * width]
        shape = 'global const %s *a, global %s *out' % (name, name)
        moves = (' T p[17]; for (int k = 0; k <= N; k++) p[k] = a[i * N + k]; '
                 'vstoreN(vloadN(0, p + 1), 0, p); vstoreN(vloadN(0, p), i, out);')
        ways = {
            'global': 'vstoreN(vloadN(i, a + 1), i, out);',
            'private': 'private' + moves, 'local': 'local' + moves}
        for space, body in ways.items():
            body = body.replace('T', name).replace('N', str(width))
            yield Case('t_vload_%s_%s%d' % (space, name, width), shape, body, n, [pack(name, a)],
                       name, want, group=1 if space == 'local' else None)
        yield Case('t_vload_constant_%s%d' % (name, width),
                   'constant %s *a, global %s *out' % (name, name),
                   'vstore%d(vload%d(i, a + 1), i, out);' % (width, width), n, [pack(name, a)],
                   name, want)


def shuffles(reals):
    for name, n, m in itertools.product(INTEGERS + reals, (2, 4, 8, 16), (2, 4, 8, 16)):
        mask_type = {1: 'uchar', 2: 'ushort', 4: 'uint', 8: 'ulong'}[SIZES[name]]
        a, b = random_of(name, 4), random_of(name, 5)
        mask = random_of(mask_type, 6)
        items = COUNT // 16
        shape = 'global const %s *a, global const %s *b, global const %s *c, global %s *out' % (
            name, name, mask_type, name)
        for f, sources in (('shuffle', (a,)), ('shuffle2', (a, b))):
            want = []
            for i in range(items):
                taken = [x for s in sources for x in s[i * n:i * n + n]]
                want += [taken[k % len(taken)] for k in mask[i * m:i * m + m]]
            calls = ', '.join(load(n, c) for _, c in zip(sources, 'ab'))
            yield Case('t_%s_%s%d_%d' % (f, name, n, m), shape,
                       store(m, '%s(%s, %s)' % (f, calls, load(m, 'c'))), items,
                       [pack(name, a), pack(name, b), pack(mask_type, mask)], name, want)


# --- functions of numbers that return a second one by a pointer, or take other types ---

def fract(x):
    if x != x or math.isinf(x):
        return (x, x) if x != x else (math.copysign(0.0, x), x)
    return x - math.floor(x), float(math.floor(x))


def modf(x):
    if math.isinf(x):
        return math.copysign(0.0, x), x
    return (x, x) if x != x else math.modf(x)


def remquo(x, y):
    if x != x or y != y or math.isinf(x) or y == 0:
        return math.nan, None
    if math.isinf(y):
        return x, 0
    rest = math.remainder(x, y)
    whole = round((x - rest) / y) if abs((x - rest) / y) < 1e15 else None
    return rest, None if whole is None else int(math.copysign(abs(whole) % 128, whole))


def lgamma_r(x):
    if x != x or math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return None, None
    try:
        value = math.lgamma(x)
    except OverflowError:
        value = math.inf
    return value, -1 if x < 0 and math.floor(x) % 2 else 1


def frexp(x):
    mantissa, exponent = math.frexp(x)
    return mantissa, exponent if math.isfinite(x) else None


def sincos(x):
    return (math.nan, math.nan) if not math.isfinite(x) else (math.sin(x), math.cos(x))


# name, arguments, type of the second result ('' the same), reference, units in the last place
POINTERS = (('fract', 1, '', fract, 0), ('modf', 1, '', modf, 0), ('sincos', 1, '', sincos, 4),
            ('frexp', 1, 'int', frexp, 0), ('remquo', 2, 'int', remquo, 0),
            ('lgamma_r', 1, 'int', lgamma_r, 1000))


def arguments_for(name, f):
    a, b = random_of(name, 7), random_of(name, 8, -7.0, 7.0)
    if f != 'sincos':
        a[:120], b[:120] = pairs_of(name)[0][:120], pairs_of(name)[1][:120]
    return a, b


SIDE = dict(private='private %s q; private %s *p = &q;', local='local %s q; local %s *p = &q;',
            **{'global': 'global %s *p = (global %s *)side + i;'})


def pointers(reals):
    for name, width, space, row in itertools.product(reals, WIDTHS, SIDE, POINTERS):
        f, n, second, reference, ulps = row
        other = second or name
        a, b = arguments_for(name, f)
        wants = [reference(*x) for x in zip(*(a, b)[:n])]
        wants = [(w[0] if w[0] is None else rounded(name, w[0]), w[1]) for w in wants]
        # results below the smallest normal number may be flushed
        least = dict(half=6.2e-5, float=1.2e-38, double=2.3e-308)[name]
        near = near_by(ulps or 0.51, name, 1e-5 if f == 'lgamma_r' else least)
        call = '%s(%s, p)' % (f, ', '.join(load(width, c) for c in 'ab'[:n]))
        place = SIDE[space] % ((vector(other, width),) * 2)
        types = 'global const %s *a, global const %s *b, global %s *side' % (name, name, other)
        inputs = [pack(name, a), pack(name, b), bytes(COUNT * 32)]
        tag = '%s_%s_%s%d' % (f, space, name, width)
        group = 1 if space == 'local' else None
        yield Case('t_' + tag, types + ', global %s *out' % name,
                   place + ' ' + store(width, call), COUNT // width, inputs, name,
                   [w[0] for w in wants], near, group)
        yield Case('t_second_' + tag, types + ', global %s *out' % other,
                   '%s %s; %s' % (place, call, store(width, '*p')), COUNT // width, inputs, other,
                   [w[1] for w in wants], near if other == name else None, group)


def power(x, n):
    """x to the n-th."""
    try:
        return x ** n if x or n >= 0 else math.copysign(math.inf, x) if n % 2 else math.inf
    except OverflowError:
        return math.copysign(math.inf, x) if n % 2 else math.inf


def root(x, n):
    if n == 0 or x != x or (x < 0 and n % 2 == 0):
        return math.nan
    if x == 0:
        size = 0.0 if n > 0 else math.inf
        return math.copysign(size, x) if n % 2 else size
    if math.isinf(x):
        size = math.inf if n > 0 else 0.0
        return math.copysign(size, x) if n % 2 else size
    size = abs(x) ** (1 / n)
    off = fractions.Fraction(size) ** n / fractions.Fraction(abs(x)) - 1
    return math.copysign(float(fractions.Fraction(size) * (1 - off / n)), x)


def scaled(x, n):
    try:
        return math.ldexp(x, n)
    except OverflowError:
        return math.copysign(math.inf, x)


def next_after(name, x, y):
    if x != x or y != y:
        return math.nan
    if x == y:
        return y
    if x == 0:
        return math.copysign(from_bits(name, 1), y)
    return from_bits(name, bits_of(name, x) + (1 if (y > x) == (x > 0) else -1))


def exponents(reals):
    """Functions with a number and an integer, in both kinds of overloads."""
    for name, width in itertools.product(reals, WIDTHS):
        a = pairs_of(name)[0][:120] + random_of(name, 9)[120:]
        b = random_of('int', 10)
        small = [x % 41 - 20 for x in b]
        least = dict(half=6.2e-5, float=1.2e-38, double=2.3e-308)[name]
        table = (('ldexp', [x % 600 - 300 for x in b], scaled, 0.51),
                 ('pown', small, power, 16), ('rootn', small, root, 16))
        for f, n, reference, ulps in table:
            yield elementwise(f, [name, 'int'], width, name, (a, n),
                              lambda x, y, r=reference, t=name: rounded(t, r(x, y)),
                              near_by(ulps, name, least))
        n = [x % 60 - 30 for x in b[:1]] * COUNT
        if width > 1:
            yield elementwise('ldexp_scalar', [name, 'int'], width, name, (a, n),
                              lambda x, y, t=name: rounded(t, scaled(x, y)),
                              near_by(0.51, name, least), 'LDEXP_SCALAR')
        yield elementwise('ilogb', [name], width, 'int', [a],
                          lambda x: math.frexp(x)[1] - 1 if math.isfinite(x) and x else None)
        yield elementwise('nextafter', [name] * 2, width, name, pairs_of(name),
                          lambda x, y, t=name: next_after(t, x, y), near_by(0, name, least))
        integer = {2: 'ushort', 4: 'uint', 8: 'ulong'}[SIZES[name]]
        yield elementwise('nan', [integer], width, name, [[0, 1] + random_of(integer, 11)[2:]],
                          lambda x: math.nan)


def least_of(x, y):
    return y if y < x else x


def most_of(x, y):
    return y if x < y else x


def clamped(x, low, high):
    return least_of(most_of(x, low), high)


def smooth(low, high, x):
    t = clamped((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3 - 2 * t)


def mixed(reals):
    """A vector and scalars: fmin(v, s), mix(v, v, s), step(s, v), clamp(v, s, s) …"""
    for name, width in itertools.product(INTEGERS + reals, WIDTHS[1:]):
        a, b = random_of(name, 12), random_of(name, 13)
        low, high = sorted((b[3], b[7]))
        exact = None if name in INTEGERS else near_by(4, name, 1e-3 if name == 'half' else 1e-4)
        table = [('max', '%s, b[3]', lambda x, y: most_of(x, b[3])),
                 ('min', '%s, b[3]', lambda x, y: least_of(x, b[3])),
                 ('clamp', '%%s, (%s)%s, (%s)%s' % (name, 'b[LOW]', name, 'b[HIGH]'),
                  lambda x, y: clamped(x, low, high))]
        if name not in INTEGERS:
            table += [('fmax', '%s, b[3]', lambda x, y: most_of(x, b[3])),
                      ('fmin', '%s, b[3]', lambda x, y: least_of(x, b[3])),
                      ('step', 'b[3], %s', lambda x, y: float(x >= b[3])),
                      ('smoothstep', 'b[LOW], b[HIGH], %s', lambda x, y: smooth(low, high, x)),
                      ('mix', '%s, Y, (T)0.25f', lambda x, y: x + (y - x) * 0.25)]
        for f, arguments, reference in table:
            call = arguments % load(width, 'a')
            for word, by in (('LOW', '3' if low == b[3] else '7'),
                             ('HIGH', '7' if low == b[3] else '3'), ('Y', load(width, 'b')),
                             ('(T)', '(%s)' % name)):
                call = call.replace(word, by)
            yield Case('t_%s_scalar_%s%d' % (f, name, width),
                       'global const %s *a, global const %s *b, global %s *out' % ((name,) * 3),
                       store(width, '%s(%s)' % (f, call)), COUNT // width,
                       [pack(name, a), pack(name, b)], name,
                       [reference(x, y) for x, y in zip(a, b)], exact)


# --- functions that may be fast instead of exact ---

FAST = dict(cos=math.cos, exp=math.exp, exp2=lambda x: 2.0 ** x, exp10=lambda x: 10.0 ** x,
            log=math.log, log2=math.log2, log10=math.log10, recip=lambda x: 1 / x,
            rsqrt=lambda x: x ** -0.5, sin=math.sin, sqrt=math.sqrt, tan=math.tan)
FAST2 = dict(divide=lambda x, y: x / y, powr=lambda x, y: x ** y)


def fast(reals):
    a, b = random_of('float', 14, 0.1, 10.0), random_of('float', 15, 0.5, 5.0)
    loose = near_by(8192, 'float', 1e-3)
    for prefix, width in itertools.product(('native_', 'half_'), WIDTHS):
        for f, reference in FAST.items():
            yield elementwise(prefix + f, ['float'], width, 'float', [a], reference,
                              near_by(8192, 'float', 1e-2) if f == 'tan' else loose)
        for f, reference in FAST2.items():
            yield elementwise(prefix + f, ['float'] * 2, width, 'float', (a, b), reference, loose)


# --- half numbers ---

def guarded(f):
    """NaN where f has no value, infinity where it overflows."""
    def value(*x):
        try:
            return f(*x)
        except ValueError:  # a pole, or no value
            return None if x[0] == math.floor(x[0]) else math.nan
        except (OverflowError, ZeroDivisionError):
            return None
    return value


HALF_FUNCTIONS = dict(
    acos=math.acos, acosh=math.acosh, acospi=lambda x: math.acos(x) / math.pi, asin=math.asin,
    asinh=math.asinh, asinpi=lambda x: math.asin(x) / math.pi, atan=math.atan, atanh=math.atanh,
    atanpi=lambda x: math.atan(x) / math.pi, cbrt=math.cbrt, ceil=lambda x: math.ceil(x) + 0.0,
    cos=math.cos, cosh=math.cosh, cospi=lambda x: math.cos(math.pi * (x % 2)),
    degrees=math.degrees, erf=math.erf, erfc=math.erfc, exp=math.exp, exp2=math.exp2,
    exp10=lambda x: 10.0 ** x, expm1=math.expm1, fabs=abs, floor=lambda x: math.floor(x) + 0.0,
    lgamma=math.lgamma, log=math.log, log2=math.log2, log10=math.log10, log1p=math.log1p,
    logb=lambda x: float(math.frexp(x)[1] - 1) if x else -math.inf, radians=math.radians,
    rint=lambda x: float(round(x)), round=lambda x: math.copysign(math.floor(abs(x) + 0.5), x),
    rsqrt=lambda x: 1 / math.sqrt(x),
    sign=lambda x: math.copysign(1, x) if x else x,
    sin=math.sin, sinh=math.sinh, sinpi=lambda x: math.sin(math.pi * (math.fmod(x, 2))),
    sqrt=math.sqrt, tan=math.tan, tanh=math.tanh, tgamma=math.gamma,
    trunc=lambda x: float(math.trunc(x)))
# units in the last place that cl_khr_fp16 allows
HALF_EXACT = ('ceil', 'fabs', 'floor', 'logb', 'rint', 'round', 'sign', 'sqrt', 'trunc')
HALF_PAIRS = dict(
    atan2=math.atan2, copysign=math.copysign, fdim=lambda x, y: max(x - y, 0.0), fmax=max, fmin=min,
    fmod=math.fmod, hypot=math.hypot, remainder=math.remainder,
    maxmag=lambda x, y: x if abs(x) > abs(y) else y if abs(y) > abs(x) else max(x, y),
    minmag=lambda x, y: x if abs(x) < abs(y) else y if abs(y) < abs(x) else min(x, y),
    add=lambda x, y: x + y, subtract=lambda x, y: x - y, multiply=lambda x, y: x * y,
    divide=lambda x, y: x / y)
HALF_OPERATORS = dict(add='+', subtract='-', multiply='*', divide='/')


def halves(reals):
    """Every half as argument; operators and functions of two with pairs of edges."""
    if 'half' not in reals:
        return
    every = [from_bits('half', b) for b in range(65536)]
    for f, reference in HALF_FUNCTIONS.items():
        want = []
        for x in every:
            y = guarded(reference)(x) if math.isfinite(x) else None
            want.append(None if y is None else rounded('half', y))
        ulps = 0 if f in HALF_EXACT else 4 if f in ('tgamma', 'lgamma') else 2
        least = 2.0 ** -9 if f == 'lgamma' else 2.0 ** -24 * (0 if f in HALF_EXACT else 2)
        # pi is not a number of Python: multiples of pi are open
        least = 2e-3 if f in ('cospi', 'sinpi', 'tan') else least
        yield Case('t_%s_half_all' % f, 'global const half *a, global half *out',
                   'out[i] = %s(a[i]);' % f, 65536, [pack('half', every)], 'half', want,
                   near_by(ulps, 'half', least))
        numbers = random_of('half', 17, 0.1, 3.0)
        for width in WIDTHS[1:]:
            yield elementwise(f, ['half'], width, 'half', [numbers],
                              lambda x, r=reference: guarded(r)(x), near_by(ulps + 1, 'half', 4e-3))
    for f, reference in HALF_PAIRS.items():
        def value(x, y, r=reference):
            if x != x or y != y or math.isinf(x) or math.isinf(y):
                return None
            got = guarded(r)(x, y)
            return None if got is None else rounded('half', got)
        for width in WIDTHS:
            call = 'OPERATOR_' + f if f in HALF_OPERATORS else f
            yield elementwise(f, ['half', 'half'], width, 'half', pairs_of('half'), value,
                              near_by(2, 'half', 2.0 ** -23) if f in ('atan2', 'hypot')
                              else None, call)
    a, b = random_of('half', 21), random_of('half', 22)
    for width in (2, 4, 8, 16):  # not by vload
        yield Case('t_fmax_direct_half%d' % width,
                   'global const half%d *a, global const half%d *b, global half%d *out' % (
                       (width,) * 3), 'out[i] = fmax(a[i], b[i]);',
                   COUNT // width, [pack('half', a), pack('half', b)], 'half',
                   [max(x, y) for x, y in zip(a, b)])
    for width in WIDTHS:
        yield elementwise('fma', ['half'] * 3, width, 'half', pairs_of('half') +
                          (random_of('half', 18),), fused)


def fused(x, y, z):
    if not all(map(math.isfinite, (x, y, z))):
        return None
    return half_by(fractions.Fraction(x) * fractions.Fraction(y) + fractions.Fraction(z), '')


def half_by(x, mode):
    """The half for a fraction."""
    if x == 0:
        return None if mode == 'zero' else 0.0
    size = abs(x)
    up = mode == '_rtp' and x > 0 or mode == '_rtn' and x < 0
    sign = 1 if x > 0 else -1
    exponent = max(-14, math.frexp(float(size))[1] - 1)
    unit = fractions.Fraction(2) ** (exponent - 10)
    below = size // unit
    rest = size - below * unit
    if mode in ('', '_rte'):
        up = rest * 2 > unit or (rest * 2 == unit and below % 2 == 1)
    value = (below + (1 if up and rest else 0)) * unit
    if value > 65504:
        stays = mode == '_rtz' or mode == '_rtp' and x < 0 or mode == '_rtn' and x > 0
        return sign * (65504.0 if stays else math.inf)
    return sign * float(value)


MODES = ('', '_rte', '_rtz', '_rtp', '_rtn')


def integer_by(x, mode, saturated, name):
    """convert_NAME of a half."""
    bits = SIZES[name] * 8
    low, high = (0, 2 ** bits - 1) if name[0] == 'u' else (-2 ** (bits - 1), 2 ** (bits - 1) - 1)
    if x != x:
        return 0 if saturated else None
    if math.isinf(x):
        return (high if x > 0 else low) if saturated else None
    whole = {'_rte': round, '_rtp': math.ceil, '_rtn': math.floor}.get(mode, math.trunc)(x)
    if saturated:
        return min(max(whole, low), high)
    return whole if low <= whole <= high else None


def half_conversions(reals):
    if 'half' not in reals:
        return
    numbers = pairs_of('half')[0][:120] + random_of('half', 19, -300.0, 300.0)[120:]
    for name, width, mode in itertools.product(INTEGERS + REALS, WIDTHS, MODES):
        a = pairs_of(name)[0][:80] + random_of(name, 20, -7e4, 7e4)[80:]
        if name in INTEGERS and SIZES[name] > 1:
            a[160:] = [x % 4096 for x in a[160:]]
        size = '' if width == 1 else str(width)

        def to_half(x, m=mode):
            if x != x:
                return x
            return x if math.isinf(x) else half_by(fractions.Fraction(x), m)
        yield elementwise('to_half%s' % mode, [name], width, 'half', [a], to_half,
                          call='convert_half%s%s' % (size, mode))
        for saturated in ('', '_sat') if name in INTEGERS else ('',):
            reference = (lambda x, m=mode, s=saturated, t=name: integer_by(x, m, s, t)) \
                if name in INTEGERS else (lambda x: x)
            yield elementwise('from_half_%s%s%s' % (name, saturated, mode), ['half'], width, name,
                              [numbers], reference,
                              call='convert_%s%s%s%s' % (name, size, saturated, mode))


def upsampling(reals):
    for low, wide in zip(INTEGERS, INTEGERS[2:]):
        unsigned = low if low[0] == 'u' else 'u' + low
        for width in WIDTHS:
            yield elementwise('upsample', [low, unsigned], width, wide,
                              (pairs_of(low)[0], pairs_of(unsigned)[1]),
                              lambda x, y, s=SIZES[low] * 8: (x << s) | y)


# --- atomic functions, and copies of work-groups ---

def atomics(reals):
    """64 work-items, one after the other in any order: the sum of all is known."""
    numbers = list(range(1, 65))
    table = (('add', sum(numbers) + 7, 7), ('sub', 7 - sum(numbers), 7), ('max', 64, 7),
             ('min', 1, 7), ('and', 0, -1), ('or', 127, 0), ('xor', 64, 0))
    for (f, want, start), name, space in itertools.product(table, ('int', 'uint', 'long', 'ulong'),
                                                           ('global', 'local')):
        prefix = 'atomic_' if SIZES[name] == 4 else 'atom_'
        bits = SIZES[name] * 8
        want = (want + 2 ** bits) % 2 ** bits
        want = want - 2 ** bits if name[0] != 'u' and want >> bits - 1 else want
        place = ('local %s l; local %s *p = &l; if (!i) l = (%s)%d; barrier(CLK_LOCAL_MEM_FENCE);'
                 if space == 'local' else
                 'global %s *p = out; if (0) { %s l = (%s)%d; } ') % (name, name, name, start)
        if space == 'global':
            place += 'if (!i) *p = (%s)%d; barrier(CLK_GLOBAL_MEM_FENCE);' % (name, start)
        end = 'barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);'
        yield Case('t_%s%s_%s_%s' % (prefix, f, space, name),
                   'global const %s *a, global %s *out' % (name, name),
                   '%s %s%s(p, a[i]); %s if (!i) { %s v = *p; out[0] = v; }' % (
                       place, prefix, f, end, name), 64, [pack(name, numbers)], name, [want],
                   group=64)
    for name, space in itertools.product(('int', 'uint', 'long', 'ulong', 'float'),
                                         ('global', 'local')):
        prefix = 'atomic_' if SIZES[name] == 4 else 'atom_'
        start = 'if (!i) { %s } barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);'
        local = 'local %s l[4]; local %s *p = l;' % (name, name) if space == 'local' else \
            'global %s *p = out;' % name
        operations = '%sxchg(p, (%s)5);' % (prefix, name)
        want = [5]
        if name != 'float':
            operations += ' %sinc(p + 1); %sdec(p + 2); %scmpxchg(p + 3, (%s)9, (%s)i);' % (
                prefix, prefix, prefix, name, name)
            want += [10 + 64, 100 - 64]
        yield Case('t_%sothers_%s_%s' % (prefix, space, name), 'global %s *out' % name,
                   '%s %s %s barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); '
                   'if (!i) for (int k = 0; k < %d; k++) { %s v = p[k]; out[k] = v; }' % (
                       local, start % 'p[0] = 1; p[1] = 10; p[2] = 100; p[3] = 9;', operations,
                       len(want), name), 64, [], name, want, group=64)


def copies(reals):
    for name, width in itertools.product(INTEGERS + reals, WIDTHS):
        a = random_of(name, 16)
        n = COUNT // 16 if width == 3 else COUNT // width
        step = 4 if width == 3 else width
        type_name = vector(name, width)
        shape = 'global const %s *a, global %s *out' % (name, name)
        whole = ('local %s l[%d]; global const %s *from = (global const %s *)a; '
                 'global %s *to = (global %s *)out; event_t e = %%s; wait_group_events(1, &e); '
                 'e = %%s; wait_group_events(1, &e); prefetch(from, 1);' % (
                     type_name, n, type_name, type_name, type_name, type_name))
        plain = whole % ('async_work_group_copy(l, from, %d, 0)' % n,
                         'async_work_group_copy(to, l, %d, 0)' % n)
        want = [x if width != 3 or i % 4 < 3 else None for i, x in enumerate(a[:n * step])]
        yield Case('t_async_%s' % type_name, shape, plain, 32, [pack(name, a)], name, want,
                   group=32)
        half = n // 2
        strided = whole % (
            'async_work_group_strided_copy(l, from, %d, 2, 0)' % half,
            'async_work_group_strided_copy(to, l, %d, 2, 0)' % half)
        want = [x if i // step % 2 == 0 and (width != 3 or i % 4 < 3) else None
                for i, x in enumerate(a[:half * 2 * step])]
        yield Case('t_strided_%s' % type_name, shape, strided, 32, [pack(name, a)], name, want,
                   group=32)


FAMILIES = dict(comparisons=comparisons, relational=relational, selections=selections,
                geometric=geometric, loads=loads, shuffles=shuffles, pointers=pointers,
                exponents=exponents, mixed=mixed, fast=fast, upsampling=upsampling,
                atomics=atomics, copies=copies, halves=halves, half_conversions=half_conversions)
HEAD = """#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define LDEXP_SCALAR(x, n) ldexp(x, b[0])
#define COMPARE_equal(x, y) ((x) == (y))
#define COMPARE_less(x, y) ((x) < (y))
#define COMPARE_both(x, y) ((x) && (y))
#define COMPARE_not_at_all(x) (!(x))
#define OPERATOR_add(x, y) ((x) + (y))
#define OPERATOR_subtract(x, y) ((x) - (y))
#define OPERATOR_multiply(x, y) ((x) * (y))
#define OPERATOR_divide(x, y) ((x) / (y))
"""


def main(wanted):
    host = Host()
    reals = REALS + (('half',) if host.has('cl_khr_fp16') else ())
    tested = wrong = 0
    # make check compiles every third overload, make check-long and tests by name all of them.
    step = 1 if wanted or os.environ.get('TEST_SIZE') == 'long' else 3
    for family in wanted or FAMILIES:
        cases = list(FAMILIES[family](reals))[::step]
        program = host.build(HEAD + ''.join(c.text for c in cases))
        bad = 0
        for c in cases:
            data = host.run(program, c.name, c.items, c.inputs, SIZES[c.result] * len(c.want),
                            c.group)
            what = c.differs(data)
            if what:
                print('%s: %s' % (c.name[2:], what))
                bad += 1
        host.cl.clReleaseProgram(program)
        print('%s: %d overloads, %d differ' % (family, len(cases), bad), flush=True)
        tested += len(cases)
        wrong += bad
    print('%d overloads, %d differ' % (tested, wrong))
    return wrong != 0


sys.exit(main(sys.argv[1:]))
