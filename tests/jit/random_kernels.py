#!/usr/bin/env python3
"""random_kernels.py SEED COUNT: a PTX file of COUNT kernels with their launch script (ptxhost).

Integers, floats, loops, branches, guards, global and shared memory; blocks of many shapes. Each
thread stores all its registers at the end, so that two ways to run the file can be compared bit for
bit."""
import random
import sys

SHAPES = [(32, 1, 1), (64, 1, 1), (128, 1, 1), (96, 1, 1), (40, 1, 1), (16, 16, 1), (8, 8, 1),
          (16, 2, 2), (8, 4, 2), (10, 10, 1), (32, 4, 1), (64, 2, 1), (16, 3, 1)]
INPUTS = 4096     # elements of each input
WORDS = 48        # 32-bit words that a thread stores
NUMBERS = {"r": 10, "f": 8, "rd": 5, "d": 4, "h": 3, "p": 4}
PREFIX = {"r": "%r", "f": "%f", "rd": "%rd", "d": "%d", "h": "%h", "p": "%p"}
FLOATS = ["0f00800000", "0f807FFFFF",
          "0f00000000", "0f3F800000", "0fBF800000", "0f7F800000", "0f7FC00001", "0f00000001",
          "0f3E99999A", "0f41200000"]


class Kernel:
    def __init__(self, rng, name):
        self.rng, self.name, self.lines, self.labels, self.depth = rng, name, [], 0, 0
        self.loops = 0
        self.apart = 0  # lanes may have gone different ways
        # A calm kernel has branches that all lanes of a block take alike: compiled code runs its
        # blocks as a whole.
        self.calm = rng.random() < 0.6

    def put(self, text):
        self.lines.append("\t" + text)

    def reg(self, kind):
        return f"{PREFIX[kind]}{self.rng.randrange(NUMBERS[kind])}"

    def src(self, kind):
        """A register, or a number."""
        rng = self.rng
        if rng.random() < 0.25:
            if kind in ("r", "rd"):
                return str(rng.choice([0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 255, -1, -4, 1000,
                                       0x7fffffff]))
            if kind == "h":
                return str(rng.choice([0, 1, 3, 15, 16, 255, -1]))
            if kind == "f":
                return rng.choice(FLOATS)
            if kind == "d":
                return rng.choice(["0d3FF0000000000000", "0d0000000000000000",
                                   "0d7FF0000000000000"])
        return self.reg(kind)

    def guard(self):
        rng = self.rng
        return f"@{rng.choice(['', '!'])}{self.reg('p')} " if rng.random() < 0.12 else ""

    # --- statements without control flow ---
    def integer(self):
        rng, g = self.rng, self.guard()
        k, bits = rng.choice([("r", 32), ("r", 32), ("rd", 64), ("h", 16)])
        d, a, b, c = self.reg(k), self.reg(k), self.src(k), self.src(k)
        s = rng.choice("su")
        t = f"{s}{bits}"
        ops = [f"add.{t} {d}, {a}, {b}", f"sub.{t} {d}, {a}, {b}", f"mul.lo.{t} {d}, {a}, {b}",
               f"mad.lo.{t} {d}, {a}, {b}, {c}", f"min.{t} {d}, {a}, {b}", f"max.{t} {d}, {a}, {b}",
               f"and.b{bits} {d}, {a}, {b}", f"or.b{bits} {d}, {a}, {b}",
               f"xor.b{bits} {d}, {a}, {b}", f"not.b{bits} {d}, {a}", f"neg.s{bits} {d}, {a}",
               f"abs.s{bits} {d}, {a}", f"mul.hi.{t} {d}, {a}, {b}",
               f"shl.b{bits} {d}, {a}, {rng.choice([self.reg('r'), '0', '1', '2', '5', '40'])}",
               f"shr.{t} {d}, {a}, {rng.choice([self.reg('r'), '1', '3', '31', '70'])}",
               f"div.{t} {d}, {a}, {b}", f"rem.{t} {d}, {a}, {b}", f"mov.b{bits} {d}, {b}",
               f"selp.b{bits} {d}, {a}, {b}, {self.reg('p')}"]
        self.put(g + rng.choice(ops) + ";")

    def wide(self):
        rng, g = self.rng, self.guard()
        s = rng.choice("su")
        r, rd = self.reg("r"), self.reg("rd")
        ops = [f"mul.wide.{s}32 {rd}, {r}, {self.src('r')}",
               f"mad.wide.{s}32 {rd}, {r}, {self.src('r')}, {self.reg('rd')}",
               f"cvt.{rng.choice('su')}64.{s}32 {rd}, {r}", f"cvt.u32.u64 {r}, {rd}",
               f"cvt.{s}32.{s}16 {r}, {self.reg('h')}", f"cvt.u16.u32 {self.reg('h')}, {r}",
               f"popc.b32 {r}, {self.reg('r')}", f"clz.b32 {r}, {self.reg('r')}",
               f"brev.b32 {r}, {self.reg('r')}", f"cvt.rzi.u32.f32 {r}, {self.reg('f')}",
               f"cvt.{s}32.{s}8 {r}, {self.reg('r')}", f"cvt.{s}16.{s}8 {self.reg('h')}, {r}",
               f"cvt.{rng.choice('su')}8.{s}32 {self.reg('h')}, {r}",
               f"cvt.{rng.choice('su')}64.{s}16 {rd}, {self.reg('h')}",
               f"cvt.{s}16.u64 {self.reg('h')}, {rd}", f"cvt.{s}8.u64 {r}, {rd}",
               f"cvt.rn.f32.{s}32 {self.reg('f')}, {r}", f"cvt.rzi.s32.f32 {r}, {self.reg('f')}",
               f"cvt.rn.f64.{s}32 {self.reg('d')}, {r}",
               f"cvt.f64.f32 {self.reg('d')}, {self.reg('f')}",
               f"mov.b32 {r}, {self.reg('f')}", f"mov.b32 {self.reg('f')}, {r}",
               f"mov.u32 {r}, %tid.{rng.choice('xyz')}", f"mov.u32 {r}, %ctaid.x",
               f"mov.u32 {r}, %laneid", f"mov.u32 {r}, %ntid.{rng.choice('xyz')}",
               f"mov.b64 {rd}, {{{self.reg('r')}, {self.reg('r')}}}",
               f"mov.b64 {rd}, {self.reg('d')}"]
        self.put(g + rng.choice(ops) + ";")

    def bits(self):
        """Funnel shifts, tables, permutations, bit fields, parts of registers."""
        rng, g = self.rng, self.guard()
        r, rd = self.reg("r"), self.reg("rd")
        a, b, c = self.reg("r"), self.src("r"), self.src("r")
        k, n, t = rng.choice([("r", 32, "32"), ("rd", 64, "64")])
        d, x, y = self.reg(k), self.reg(k), self.reg(k)
        pos, length = rng.choice([0, 3, 8, 31, 32, 40]), rng.choice([0, 1, 5, 16, 33, 64])
        s = rng.choice("su")
        parts = [self.reg("r"), self.reg("r")]
        ops = [f"shf.{rng.choice('lr')}.{rng.choice(['wrap', 'clamp'])}.b32 {r}, {a}, {b}, {c}",
               f"shf.l.wrap.b32 {r}, {a}, {a}, {rng.choice([1, 7, 13, 32])}",
               f"lop3.b32 {r}, {a}, {b}, {c}, {rng.randrange(256)}",
               f"prmt.b32 {r}, {a}, {b}, {rng.choice([0x3210, 0x7531, 0x0123, 0x5410, 0x9876])}",
               f"prmt.b32 {r}, {a}, {b}, {self.reg('r')}",
               f"bfe.{s}{t} {d}, {x}, {pos}, {length}", f"bfi.b{t} {d}, {x}, {y}, {pos}, {length}",
               f"bfe.{s}{t} {d}, {x}, {self.reg('r')}, {length}",
               f"bfind.{s}{t} {r}, {x}", f"bfind.shiftamt.{s}{t} {r}, {x}", f"popc.b{t} {r}, {x}",
               f"clz.b{t} {r}, {x}", f"brev.b{t} {d}, {x}", f"cnot.b{t} {d}, {x}",
               f"mul.hi.{s}64 {rd}, {self.reg('rd')}, {self.reg('rd')}",
               f"mad.hi.{s}{t} {d}, {x}, {y}, {self.reg(k)}", f"sad.{s}{t} {d}, {x}, {y}, {d}",
               f"dp4a.{rng.choice('su')}32.{s}32 {r}, {a}, {b}, {c}"]
        self.put(g + rng.choice(ops) + ";")
        if rng.random() < 0.3:
            self.put(rng.choice([
                f"mov.b64 {rd}, {{{a}, {self.reg('r')}}};",
                f"{g}mov.b64 {{{parts[0]}, {parts[1]}}}, {rd};" if parts[0] != parts[1] else
                f"mov.b64 {{{a}, _}}, {rd};",
                f"mov.b32 {{%h0, %h1}}, {a};", f"mov.b32 {r}, {{%h2, {self.reg('h')}}};",
                f"mov.b64 {rd}, {{%h0, %h1, %h2, %h0}};"]))

    def convert(self):
        rng, g = self.rng, self.guard()
        f, d, r, rd, h = (self.reg(k) for k in ("f", "d", "r", "rd", "h"))
        s, n = rng.choice("su"), rng.choice([32, 64])
        whole = rng.choice(["rni", "rzi", "rmi", "rpi"])
        ftz = rng.choice(["", "", ".ftz"])
        k = {32: r, 64: rd}[n]
        ops = [f"cvt.rn.f32.f64 {f}, {d}", f"cvt{ftz}.f64.f32 {d}, {f}",
               f"cvt.{whole}{ftz}.f32.f32 {f}, {self.reg('f')}",
               f"cvt.{whole}.f64.f64 {d}, {self.reg('d')}",
               f"cvt{ftz}.sat.f32.f32 {f}, {self.reg('f')}",
               f"cvt.{whole}{ftz}.{s}{n}.f32 {k}, {f}", f"cvt.{whole}.{s}{n}.f64 {k}, {d}",
               f"cvt.{whole}.{s}16.f32 {h}, {f}", f"cvt.{whole}.{s}8.f32 {r}, {f}",
               f"cvt.{whole}.{s}8.f64 {r}, {d}", f"cvt.{whole}.{s}16.f64 {h}, {d}",
               f"cvt.rn.f32.{s}{n} {f}, {k}", f"cvt.rn.f64.{s}{n} {d}, {k}",
               f"cvt.rn.f32.{s}16 {f}, {h}", f"cvt.rn.f32.{s}8 {f}, {r}",
               f"cvt.rn.f16.f32 {h}, {f}", f"cvt.f32.f16 {f}, {h}", f"cvt.rn.bf16.f32 {h}, {f}",
               f"cvt.rni.s32.f16 {r}, {h}", f"min.f64 {d}, {d}, {self.reg('d')}",
               f"max.f64 {d}, {self.reg('d')}, {d}", f"rcp.rn.f64 {d}, {self.reg('d')}"]
        self.put(g + rng.choice(ops) + ";")

    def approximate(self):
        rng, g = self.rng, self.guard()
        f, a, b = self.reg("f"), self.src("f"), self.reg("f")
        ftz = rng.choice(["", "", ".ftz"])
        ops = [f"{op}.approx{ftz}.f32 {f}, {a}" for op in
               ("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2")]
        ops += [f"tanh.approx.f32 {f}, {a}", f"div.approx{ftz}.f32 {f}, {a}, {b}",
                f"div.full{ftz}.f32 {f}, {a}, {b}"]
        self.put(g + rng.choice(ops) + ";")

    def local(self):
        """Local memory, at a place of its own for each lane or the same for all."""
        rng = self.rng
        self.put(f"and.b32 %at, {rng.choice(['%tx', self.reg('r'), '%n0'])}, 7;")
        self.put("mul.wide.u32 %off, %at, 8;\n\tadd.s64 %ra, %own, %off;")
        kind, t = rng.choice([("r", "b32"), ("rd", "b64"), ("r", "u8"), ("r", "s16"), ("f", "f32")])
        at = rng.choice([0, 8, 16])
        if rng.random() < 0.5:
            self.put(f"{self.guard()}st.local.{t} [%ra+{at}], {self.reg(kind)};")
        else:
            self.put(f"{self.guard()}ld.local.{t} {self.reg(kind)}, [%ra+{at}];")

    def floating(self):
        rng, g = self.rng, self.guard()
        k, t = rng.choice([("f", "f32"), ("f", "f32"), ("d", "f64")])
        d, a, b, c = self.reg(k), self.reg(k), self.src(k), self.src(k)
        m = rng.choice(["", "", "", ".rz", ".rm"])
        f = ".ftz" if t == "f32" and rng.random() < 0.3 else ""
        ops = [f"add{m}{f}.{t} {d}, {a}, {b}", f"sub{m}{f}.{t} {d}, {a}, {b}",
               f"mul{m}{f}.{t} {d}, {a}, {b}", f"fma{m or '.rn'}{f}.{t} {d}, {a}, {b}, {c}",
               f"fma.rn.{t} {d}, {a}, {b}, {d}", f"neg{f}.{t} {d}, {a}", f"abs{f}.{t} {d}, {a}",
               f"min{f}.{t} {d}, {a}, {b}", f"max{f}.{t} {d}, {a}, {b}",
               f"div.rn{f}.{t} {d}, {a}, {b}",
               f"sqrt.rn{f}.{t} {d}, {a}", f"rcp.rn{f}.{t} {d}, {a}", f"mov.{t} {d}, {b}",
               f"selp.{t} {d}, {a}, {b}, {self.reg('p')}"]
        self.put(g + rng.choice(ops) + ";")

    def compare(self):
        rng, g = self.rng, self.guard()
        k, t = rng.choice([("r", "s32"), ("r", "u32"), ("rd", "s64"), ("f", "f32"), ("d", "f64")])
        how = ["eq", "ne", "lt", "le", "gt", "ge"]
        if k in "fd":
            how += ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
        c = rng.choice(how)
        p, q = self.reg("p"), self.reg("p")
        a, b = self.reg(k), self.src(k)
        if k == "f" and rng.random() < 0.3:
            t = "ftz.f32"
        also = rng.choice(["", "", f".{rng.choice(['and', 'or', 'xor'])}"])
        tail = f", {rng.choice(['', '!'])}{q}" if also else ""
        self.put(rng.choice([f"{g}setp.{c}{also}.{t} {p}, {a}, {b}{tail};",
                             f"{g}and.pred {p}, {q}, {self.reg('p')};",
                             f"{g}not.pred {p}, {q};"]))

    def address(self, kind):
        """An address of the input in %ra: linear, the same for all lanes, or from data."""
        rng = self.rng
        base = {"r": "%in_r", "f": "%in_f", "d": "%in_d"}[kind]
        size = 8 if kind == "d" else 4
        way = rng.randrange(5)
        if way == 0:
            self.put(f"add.s32 %at, %tx, {rng.randrange(1000)};")
        elif way == 1:
            self.put(f"mad.lo.s32 %at, %ty, {rng.choice([1, 16, 33])}, %tx;")
        elif way == 2:
            self.put(f"and.b32 %at, {self.reg('r')}, 1023;")
        elif way == 3:
            self.put(f"mov.u32 %at, {rng.randrange(1000)};")
        else:
            self.put("shl.b32 %at, %tx, 1;")
        self.put(f"mul.wide.{rng.choice('su')}32 %off, %at, {size};")
        self.put(f"add.s64 %ra, {base}, %off;")

    def load(self):
        rng = self.rng
        kind = rng.choice("rfd")
        t = {"r": "u32", "f": "f32", "d": "f64"}[kind]
        self.address(kind)
        how = rng.randrange(6)
        if how == 0 and kind != "d":  # a vector, aligned
            n = rng.choice([2, 4])
            self.put(f"and.b64 %ra, %ra, {-4 * n};")
            regs = rng.sample(range(NUMBERS[kind]), n)
            names = ", ".join(PREFIX[kind] + str(x) for x in regs)
            self.put(f"ld.global.v{n}.{t} {{{names}}}, [%ra];")
        elif how == 1:
            narrow = rng.choice(["u8", "s8", "u16", "s16"])
            self.put(f"ld.global.{narrow} {self.reg('r')}, [%ra+2];")
        else:
            self.put(f"{self.guard()}ld{rng.choice(['.global', '.global', ''])}.{t} "
                     f"{self.reg(kind)}, [%ra+{rng.choice([0, 8, 64])}];")

    def own_store(self):
        """Somewhere in what the thread stores at the end anyway."""
        if self.rng.random() < 0.3:
            self.common()
            return
        w = self.rng.randrange(WORDS // 2)
        self.put(f"{self.guard()}st.global.{self.rng.choice(['u32', 'b32'])} "
                 f"[%out+{4 * w}], {self.src('r')};")

    def common(self):
        """Words that all threads of a block use: the order of their turns decides."""
        rng = self.rng
        self.put(f"and.b32 %at, {rng.choice(['%linear', '%tx', self.reg('r')])}, "
                 f"{rng.choice([0, 7, 63])};")
        self.put("mul.wide.u32 %off, %at, 4;\n\tadd.s64 %ra, %lines0, %off;")
        if rng.random() < 0.5:
            self.put(f"ld.global.u32 {self.reg('r')}, [%ra];")
        self.put(f"{self.guard()}st.global.{rng.choice(['u32', 'u32', 'u8', 'u16'])} [%ra], "
                 f"{self.reg('r')};")

    def shared(self):
        rng = self.rng
        r, s = self.reg("r"), self.reg("f")
        if self.depth and (not self.calm or self.apart):  # some lanes alone: no barrier
            self.put(f"{self.guard()}st.shared.u32 [%mine], {r};")
            at = rng.choice(["%mine", f"tile+{4 * rng.randrange(8)}"])
            self.put(f"ld.shared.u32 {self.reg('r')}, [{at}];")
            return
        self.put(f"st.shared.u32 [%mine], {r};")
        self.barrier()
        way = rng.randrange(4)
        if way == 0:
            self.put(f"ld.shared.f32 {s}, [%mine];")
        elif way == 1:
            self.put(f"ld.shared.u32 {self.reg('r')}, [tile+{4 * rng.randrange(8)}];")
        elif way == 2:  # several with one base
            for _ in range(rng.randrange(2, 5)):
                self.put(f"ld.shared.u32 {self.reg('r')}, [%tile+{4 * rng.randrange(8)}];")
        else:
            self.put("xor.b32 %at, %linear, 3;")
            self.put("min.u32 %at, %at, %last;")
            self.put("shl.b32 %at, %at, 2;")
            self.put("add.u32 %at, %at, %tile;")
            self.put(f"ld.shared.u32 {self.reg('r')}, [%at];")
        self.barrier()

    def barrier(self):
        rng = self.rng
        vote = f"0, {rng.choice(['', '!'])}{self.reg('p')};"
        self.put(rng.choice(["bar.sync 0;", "bar.sync 0;",
                             f"bar.red.popc.u32 {self.reg('r')}, {vote}",
                             f"bar.red.{rng.choice(['and', 'or'])}.pred {self.reg('p')}, {vote}"]))

    def line_store(self):
        """Lanes side by side: one to four words of each thread."""
        n = self.rng.choice([1, 2, 4])
        if n == 1:
            self.put(f"st.global.b32 [%lines1], {self.src('r')};")
            return
        kind = self.rng.choice("rf")
        names = ", ".join(self.reg(kind) for _ in range(n))
        self.put(f"{self.guard()}st.global.v{n}.{'u32' if kind == 'r' else 'f32'} [%lines{n}], "
                 f"{{{names}}};")

    def collective(self):
        """shfl and vote: all lanes of the warp must be there."""
        rng = self.rng
        if self.apart:
            return
        p, q, r = self.reg("p"), self.reg("p"), self.reg("r")
        number = lambda values: rng.choice([str(rng.choice(values)), self.reg("r")])
        members = rng.choice(["-1", "0xffffffff", "%all"])
        d = rng.choice([r, f"{r}|{p}", f"{self.reg('r')}|_"])
        mode = rng.choice(["up", "down", "bfly", "idx"])
        clamp = rng.choice(["0", "31", "0x1801", "0x101f", self.reg("r")])
        by = rng.choice([number([0, 1, 2, 4, 7, 16, 31, 40]), "%four"])
        what = self.reg("r")
        self.put(rng.choice([
            f"shfl.sync.{mode}.b32 {d}, {what}, {by}, {clamp}, {members};",
            f"shfl.sync.{mode}.b32 {d}, {what}, {by}, {clamp}, {members};",
            f"vote.sync.ballot.b32 {r}, {rng.choice(['', '!'])}{q}, {members};",
            f"vote.sync.{rng.choice(['all', 'any', 'uni'])}.pred {p}, {rng.choice(['', '!'])}{q}, "
            f"{members};",
            f"match.any.sync.b32 {r}, {what}, {members};",
            f"redux.sync.{rng.choice(['add', 'min', 'max'])}.s32 {r}, {what}, {members};",
            f"bar.warp.sync {members};"]))

    # --- control flow ---
    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def branch(self):
        rng, other, end = self.rng, self.label(), self.label()
        self.depth += 1
        self.apart += 1
        p = self.reg("p")
        if self.calm:
            self.apart -= 1
            what = rng.choice(["%n0", "%block", "%count"])
            self.put(f"and.b32 %at, {what}, {rng.choice([1, 3])};")
            self.put(f"setp.eq.u32 %pu, %at, {rng.choice([0, 1])};")
            p = "%pu"
        self.put(f"@{rng.choice(['', '!'])}{p} bra {other};")
        self.body(rng.randrange(1, 6))
        if rng.random() < 0.5:
            self.put(f"bra {end};")
            self.lines.append(f"{other}:")
            self.body(rng.randrange(1, 6))
            self.lines.append(f"{end}:")
        else:
            self.lines.append(f"{other}:")
        self.depth -= 1
        self.apart -= not self.calm

    def choice(self):
        """Some lanes skip a few instructions, as data says: these become straight code."""
        rng, p, end = self.rng, self.reg("p"), self.label()
        self.address("r")
        self.put(f"ld.global.u32 %at, [%ra];\n\tand.b32 %at, %at, {rng.choice([1, 3, 7])};")
        self.put(f"setp.eq.u32 {p}, %at, 0;")
        self.put(f"@{rng.choice(['', '!'])}{p} bra {end};")
        self.compute(rng.randrange(1, 4))
        if rng.random() < 0.4:  # a second test, with the same end
            self.put(f"@{rng.choice(['', '!'])}{self.reg('p')} bra {end};")
            self.compute(rng.randrange(1, 3))
        if rng.random() < 0.3:  # one inside
            inner = self.label()
            self.put(f"@{self.reg('p')} bra {inner};")
            self.compute(rng.randrange(1, 3))
            self.lines.append(f"{inner}:")
        if rng.random() < 0.4:  # the other way
            other = self.label()
            self.put(f"bra {other};")
            self.lines.append(f"{end}:")
            self.compute(rng.randrange(1, 4))
            end = other
        self.lines.append(f"{end}:")

    def compute(self, n):
        for _ in range(n):
            self.rng.choice([self.integer, self.wide, self.floating, self.compare, self.bits,
                             self.convert])()

    def switch(self):
        rng, table, end = self.rng, self.label(), self.label()
        ways = [self.label() for _ in range(4)]
        index = rng.choice(["%n0", "%nx"] if self.calm else [self.reg("r"), "%n0", "%nx"])
        self.put(f"and.b32 %at, {index}, 3;")
        self.lines.append(f"{table}: .branchtargets {', '.join(ways)};")
        self.put(f"brx.idx %at, {table};")
        self.depth += 1
        self.apart += 1
        for way in ways:
            self.lines.append(f"{way}:")
            self.body(rng.randrange(1, 4))
            self.put(f"bra {end};")
        self.lines.append(f"{end}:")
        self.depth -= 1
        self.apart -= 1

    def loop(self):
        rng, again = self.rng, self.label()
        if self.loops >= 3:
            return
        counter = f"%n{self.loops}"
        self.loops += 1
        same = self.calm or rng.random() < 0.7
        if same:
            self.put(f"mov.u32 {counter}, {rng.randrange(1, 12)};")
        else:  # lanes leave at different times
            self.depth += 1
            self.apart += 1
            self.put(f"and.b32 {counter}, {self.reg('r')}, 7;")
        self.lines.append(f"{again}:")
        self.depth += 1
        self.body(rng.randrange(2, 8))
        self.depth -= 1
        self.put(f"add.s32 {counter}, {counter}, -1;")
        self.put(f"setp.gt.s32 %pl, {counter}, 0;")
        self.put(f"@%pl bra {again};")
        if not same:
            self.depth -= 1
            self.apart -= 1
        self.loops -= 1

    def body(self, n):
        simple = [self.integer, self.integer, self.wide, self.floating, self.floating, self.compare,
                  self.bits, self.convert, self.approximate, self.local, self.load, self.own_store,
                  self.shared, self.line_store, self.collective, self.choice]
        for _ in range(n):
            if self.depth < 3 and self.rng.random() < 0.15:
                self.rng.choice([self.branch, self.loop, self.switch])()
            else:
                self.rng.choice(simple)()

    def text(self):
        put = self.put
        for k, name in enumerate(["in_r", "in_f", "in_d", "out"]):
            put(f"ld.param.u64 %{name}, [{self.name}_{k}];")
        put(f"ld.param.u32 %r0, [{self.name}_4];")
        put("mov.u32 %tx, %tid.x;\n\tmov.u32 %ty, %tid.y;\n\tmov.u32 %tz, %tid.z;")
        put("mov.u32 %nx, %ntid.x;\n\tmov.u32 %ny, %ntid.y;\n\tmov.u32 %nz, %ntid.z;")
        put("mad.lo.s32 %linear, %tz, %ny, %ty;\n\tmad.lo.s32 %linear, %linear, %nx, %tx;")
        put("mul.lo.s32 %at, %nx, %ny;\n\tmul.lo.s32 %at, %at, %nz;\n\tadd.s32 %last, %at, -1;")
        put("mov.u32 %r1, %ctaid.x;\n\tmad.lo.s32 %global, %r1, %at, %linear;")
        put(f"mul.wide.s32 %off, %global, {4 * WORDS};\n\tadd.s64 %out, %out, %off;")
        put(f"ld.param.u64 %lines1, [{self.name}_5];\n\tmov.u32 %r1, %nctaid.x;")
        put("mul.lo.s32 %at, %at, %r1;\n\tmul.wide.s32 %off, %at, 4;")
        put("add.s64 %lines2, %lines1, %off;\n\tmad.lo.s64 %lines4, %off, 3, %lines1;")
        for n in (1, 2, 4):
            put(f"mul.wide.s32 %off, %global, {4 * n};\n\tadd.s64 %lines{n}, %lines{n}, %off;")
        put(f"ld.param.u64 %lines0, [{self.name}_6];\n\tmov.u32 %block, %ctaid.x;")
        put(f"ld.param.u32 %count, [{self.name}_4];")
        put("mul.wide.u32 %off, %block, 256;\n\tadd.s64 %lines0, %lines0, %off;")
        put("mov.u64 %own, depot;")
        for k in range(10):
            put(f"st.local.b64 [%own+{8 * k}], %off;")
        put("mov.u32 %n0, 2;\n\tmov.u32 %all, -1;\n\tmov.u32 %four, 4;")
        put("mov.u32 %tile, tile;\n\tshl.b32 %mine, %linear, 2;\n\tadd.u32 %mine, %mine, %tile;")
        put("mov.u32 %r2, %tx;\n\tmov.u32 %r3, %ty;\n\tmov.u32 %r4, %global;\n\tmov.u32 %r5, 5;")
        for k in range(6, NUMBERS["r"]):
            put(f"mov.u32 %r{k}, {self.rng.randrange(-5, 100)};")
        for k in range(NUMBERS["f"]):
            put(f"mov.f32 %f{k}, {self.rng.choice(FLOATS)};")
        for k in range(NUMBERS["d"]):
            put(f"cvt.rn.f64.s32 %d{k}, %r{k + 1};")
        for k in range(NUMBERS["rd"]):
            put(f"cvt.s64.s32 %rd{k}, %r{k + 1};")
        for k in range(NUMBERS["h"]):
            put(f"cvt.u16.u32 %h{k}, %r{k + 2};")
        for k in range(NUMBERS["p"]):
            put(f"setp.lt.s32 %p{k}, %r{self.rng.randrange(6)}, {self.rng.randrange(40)};")
        self.body(self.rng.randrange(4, 16) if self.calm else self.rng.randrange(15, 45))
        at = 4 * (WORDS // 2)
        for kind, t, size in (("rd", "b64", 8), ("d", "f64", 8), ("r", "b32", 4), ("f", "f32", 4)):
            for k in range(NUMBERS[kind]):
                if at + size <= 4 * WORDS:
                    put(f"st.global.{t} [%out+{at}], {PREFIX[kind]}{k};")
                    at += size
        put("cvt.u32.u16 %at, %h0;\n\tselp.b32 %at, %at, 77, %p0;")
        put(f"st.global.b32 [%out+{4 * (WORDS // 2) - 4}], %at;")
        put("ret;")
        params = ", ".join(f".param .u64 {self.name}_{k}" for k in range(4))
        regs = [f".reg .{t} {PREFIX[k]}<{NUMBERS[k]}>;" for k, t in
                (("r", "b32"), ("f", "f32"), ("rd", "b64"), ("d", "f64"), ("h", "b16"),
                 ("p", "pred"))]
        regs.append(".reg .b32 %at, %tx, %ty, %tz, %nx, %ny, %nz, %linear, %last, %global, %tile, "
                    "%mine, %n0, %n1, %n2, %all, %four, %block, %count;")
        regs.append(".reg .b64 %in_r, %in_f, %in_d, %out, %off, %ra, %lines0, %lines1, %lines2, "
                    "%lines4, %own;\n\t.reg .pred %pl, %pu;")
        regs.append(".local .align 8 .b8 depot[80];")
        regs.append(".shared .align 4 .b8 tile[4096];")
        return (f".visible .entry {self.name}({params}, .param .u32 {self.name}_4, "
                f".param .u64 {self.name}_5, .param .u64 {self.name}_6)\n{{\n\t"
                + "\n\t".join(regs) + "\n" + "\n".join(self.lines) + "\n}\n")


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    script = [f"//! buffer in_r s32 {INPUTS} random {seed}",
              f"//! buffer in_f f32 {INPUTS} random 2",
              f"//! buffer in_d f64 {INPUTS} random 3"]
    kernels = []
    for k in range(count):
        x, y, z = rng.choice(SHAPES)
        blocks = rng.choice([1, 2, 3, 9])
        script.append(f"//! buffer out{k} b32 {x * y * z * blocks * WORDS} zero")
        script.append(f"//! buffer lines{k} b32 {x * y * z * blocks * 7} zero")
        script.append(f"//! buffer common{k} b32 {64 * blocks} zero")
        script.append(f"//! launch k{k} grid={blocks},1,1 block={x},{y},{z} in_r in_f in_d out{k} "
                      f"u32:{rng.randrange(100)} lines{k} common{k}")
        kernels.append(Kernel(rng, f"k{k}").text())
    print("\n".join(script))
    print(".version 7.8\n.target sm_80\n.address_size 64\n")
    print("\n".join(kernels))


main()
