#!/usr/bin/env python3
"""contract_gen.py TYPE SM SEED COUNT [MODIFIERS]: a PTX module with COUNT random kernels, after one
kernel for each shape
below, full of multiplications and additions that ptxas may fuse. TYPE is f32 f64 f16 f16x2 bf16
bf16x2; MODIFIERS ".ftz".
"""
import random
import sys

TYPE, SM, SEED, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
MODS = sys.argv[5] if len(sys.argv) > 5 else ""
REG = {"f32": "f32", "f64": "f64", "f16": "b16", "f16x2": "b32", "bf16": "b16",
       "bf16x2": "b32"}[TYPE]
SIZE = {"f64": 8, "f16": 2, "bf16": 2}.get(TYPE, 4)
# constants: 3, 1, -1, 0.5 in the type
CONSTANTS = {
    "f32": ["0f40400000", "0f3F800000", "0fBF800000", "0f3F000000"],
    "f64": ["0d4008000000000000", "0d3FF0000000000000", "0dBFF0000000000000", "0d3FE0000000000000"],
    "f16": ["0x4200", "0x3C00", "0xBC00", "0x3800"], "bf16": ["0x4040", "0x3F80", "0xBF80",
        "0x3F00"],
    "f16x2": ["0x42004200", "0x3C003C00", "0xBC00BC00", "0x38003800"],
    "bf16x2": ["0x40404040", "0x3F803F80", "0xBF80BF80", "0x3F003F00"],
}[TYPE]
IMMEDIATE = TYPE in ("f32", "f64")         # the others take constants in registers only

# Shapes in a small language: x = a * b, x = a + b, x = a - b, x = - a, x = a; st x; words in quotes
# are PTX as it stands. a0…a7 come from memory, k0 k1 are kernel parameters, c0…c3 the constants
# above. IF, FI, DO, OD, CUT are control flow.
SHAPES = """
x = a0 * a1; y = x + a2; st y
x = a0 * a1; y = x - a2; st y
x = a0 * a1; y = a2 - x; st y
x = a0 * a1; y = x + a2; st y; st x
x = a0 * a1; y = x + a2; z = a3 - x; st y; st z
x = a0 * a1; w = a2 * a3; y = x + w; st y
x = a0 * a1; w = a2 * a3; y = w - x; st y
x = a0 * a1; w = a2 * a3; y = x + w; z = x + a4; st y; st z
x = a0 * a1; w = a2 * a3; z = w + a4; y = w + x; st y; st z
x = a0 * a1; w = a2 * a3; v = a4 * a5; y = x + w; z = w + v; u = v + x; st y; st z; st u
x = a0 * a1; y = x + x; st y
x = a0 * a1; y = x - x; z = x + a2; st y; st z
x = a0 * a1; w = a0 * a1; y = x + w; st y
x = a0 * a1; n = - x; y = n + a2; st y
x = a0 * a1; n = - x; y = a2 - n; z = x + a3; st y; st z
x = a0 * a1; m = x; y = m + a2; st y
x = a0 * a1; y = x * a2; z = y + a3; st z
x = a0 * a1; y = x * c3; st y
x = a0 * a1; y = x * c3; z = x + a2; st z; st y
x = a0 * c1; y = x + a2; st y
x = a0 * c2; y = a2 - x; st y
x = a0 * c0; y = a2 - x; st y
x = c0 * a0; y = a2 - x; st y
x = a0 * a1; y = x + c0; st y
x = a0 * a1; y = c0 - x; st y
x = c0 * c3; y = x + a0; st y
x = a0 * a1; CUT; y = x + a2; st y
x = a0 * c0; CUT; y = x + a2; st y
x = a0 * k0; CUT; y = a2 - x; st y
x = a0 * k0; CUT; w = a2 * a3; y = x + w; z = w - a4; st y; st z
x = a0 * k0; IF; y = x + a2; st y; FI; z = x + a3; st z
x = a0 * a1; IF; st a2; FI; z = x + a3; st z
x = a0 * a1; IF; z = x + a3; st z; FI
s = a7; DO; x = a0 * s; s = x + a1; OD; st s
s = a7; DO; x = a0 * a1; s = s + x; OD; st s
s = a7; x = a0 * c0; DO; s = s + x; OD; st s
s = a7; x = a0 * a1; DO; s = s + x; OD; st s
x = a6; s = a7; DO; s = s + x; x = a0 * s; OD; st s
x = a0 * a1; a0 = a3; y = x + a2; st y; st a0
a0 = a0 * a1; a0 = a0 + a2; st a0
x = a0 * a1; @ y = x + a2; st y
x = a5; @ x = a0 * a1; y = x + a2; st y
x = a0 * a1; @ x = a5; y = x + a2; st y
x = a0 * a1; y = x + a2; d = - x; st y
""".strip().split("\n")


class Kernel:
    def __init__(self, name):
        self.name, self.lines, self.regs, self.offset, self.labels = name, [], set(), 0, 0
        self.open = []                     # labels of IF and DO
        for i in range(8):
            self.raw(f"ld.global.{REG} {self.reg(f'a{i}')}, [%p+{i * SIZE}];")
        self.raw(f"ld.param.{REG} {self.reg('k0')}, [k0];")
        self.raw(f"ld.param.{REG} {self.reg('k1')}, [k1];")
        self.raw("setp.gt.s32 %cond, %tid, 5;")
        for var in "xyzwuvsmn":
            self.regs.add(f"%v_{var}")
        if not IMMEDIATE:
            for i, c in enumerate(CONSTANTS):
                self.raw(f"mov.{REG} {self.reg(f'c{i}')}, {c};")

    def raw(self, text):
        self.lines.append(text)

    def reg(self, name):
        if IMMEDIATE and name[0] == "c" and name[1:].isdigit():
            return CONSTANTS[int(name[1:])]
        self.regs.add(f"%v_{name}")
        return f"%v_{name}"

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def op(self, op, d, a, b, guard=""):
        a, b, d = self.reg(a), self.reg(b), self.reg(d)
        self.raw(f"{guard}{op}{MODS}.{TYPE} {d}, {a}, {b};")

    def store(self, x):
        self.raw(f"st.global.{REG} [%q+{self.offset}], {self.reg(x)};")
        self.offset += SIZE

    def cut(self, rng=None):
        what = rng.choice(["div", "sqrt", "div", "guarded"]) if rng else "div"
        if what == "div":
            self.raw("div.rn.f32 %f0, %f1, %f2; st.volatile.global.f32 [%q], %f0;")
        elif what == "sqrt":
            self.raw("sqrt.rn.f32 %f0, %f1; st.volatile.global.f32 [%q], %f0;")
        else:
            self.raw("@%cond st.volatile.global.f32 [%q], %f1;")

    def begin_if(self):
        self.open.append(self.label())
        self.raw(f"@%cond bra {self.open[-1]}; st.volatile.global.f32 [%q], %f1;")

    def end_if(self):
        self.raw(f"{self.open.pop()}: st.volatile.global.f32 [%q], %f2;")

    def begin_loop(self):
        self.open.append(self.label())
        self.raw(
            f"mov.u32 %i{len(self.open)}, 0; {self.open[-1]}: st.volatile.global.f32 [%q], %f2;")

    def end_loop(self):
        i = f"%i{len(self.open)}"
        self.raw(
            f"add.u32 {i}, {i}, 1; setp.lt.u32 %again, {i}, %tid; @%again bra {self.open.pop()};")

    def text(self):
        param = f".param .{REG}"
        return "\n".join([
            f".visible .entry {self.name}(.param .u64 p, .param .u64 q, {param} k0, {param} k1)",
            "{",
            ".reg .b64 %p, %q, %t; .reg .pred %cond, %again; .reg .b32 %tid, %i<9>; .reg .f32 "
            "%f<3>;",
            f".reg .{REG} {', '.join(sorted(self.regs))};",
            "ld.param.u64 %p, [p]; ld.param.u64 %q, [q]; cvta.to.global.u64 %p, %p; "
            "cvta.to.global.u64 %q, %q;",
            "mov.u32 %tid, %laneid; mul.wide.u32 %t, %tid, 256; add.u64 %p, %p, %t; add.u64 %q, "
            "%q, %t;",
            "ld.global.f32 %f1, [%p+100]; ld.global.f32 %f2, [%p+104];", *self.lines, "ret;", "}",
            ""])


def shape(name, text):
    k = Kernel(name)
    for s in text.split(";"):
        w = s.split()
        guard = ""
        if w[0] == "@":
            guard, w = "@%cond ", w[1:]
        if w[0] == "st":
            k.store(w[1])
        elif w[0] in ("IF", "FI", "DO", "OD", "CUT"):
            {"IF": k.begin_if, "FI": k.end_if, "DO": k.begin_loop, "OD": k.end_loop,
             "CUT": k.cut}[w[0]]()
        elif len(w) == 5:
            k.op({"*": "mul", "+": "add", "-": "sub"}[w[3]], w[0], w[2], w[4], guard)
        elif w[2] == "-":
            k.raw(f"{guard}neg.{TYPE} {k.reg(w[0])}, {k.reg(w[3])};")
        else:
            k.raw(f"{guard}mov.{REG} {k.reg(w[0])}, {k.reg(w[2])};")
    return k.text()


def random_kernel(name, rng):
    """Single assignment, except for variables a loop carries. Additions read products of their own
    block more often than
    not; products with a constant or parameter are also kept for one addition in a later block."""
    k = Kernel(name)
    scopes = [[f"a{i}" for i in range(8)]]             # sums and loads, by dominance
    local, mobile, carried = [], [[]], []

    def value():
        return rng.choice([v for s in scopes for v in s])

    def product():
        if rng.random() < 0.15 and any(mobile):
            return rng.choice([m for m in mobile if m]).pop()
        return rng.choice(local) if local else value()

    def varying():
        # In a loop one operand changes with it: what does not, nvcc has moved out, as ptxas would.
        loops = [s for s, c in zip(scopes[1:], carried) if c]
        return rng.choice(loops[-1]) if loops else None

    def add(d, a, b, guard=""):
        pair = [a, b if b != a else "a7"]
        rng.shuffle(pair)
        k.op(rng.choice(["add", "sub"]), d, *pair, guard)
        scopes[-1].append(d)

    def close():
        s = carried.pop()
        for v in scopes[-1][-3:]:
            k.raw(f"st.volatile.global.{REG} [%q+200], {k.reg(v)};")
        if s:
            k.op("add", s, product(), s)
            k.end_loop()
        else:
            k.end_if()
        local.clear()
        scopes.pop()
        mobile.pop()
        if s:
            scopes[-1].append(s)

    for n in range(rng.randint(4, 30)):
        r, d = rng.random(), f"x{n}"
        if r < 0.30:
            k.op("mul", d, varying() or value(), value())
            local.append(d)
        elif r < 0.36:
            pair = [varying() or value(), rng.choice(["k0", "c0"])]
            rng.shuffle(pair)
            k.op("mul", d, *pair)
            (mobile[-1] if rng.random() < 0.5 else local).append(d)
        elif r < 0.72:
            guard = "@%cond " if rng.random() < 0.04 else ""
            if guard:
                k.raw(f"mov.{REG} {k.reg(d)}, {k.reg('a7')};")
            a = product() if rng.random() < 0.7 else value()
            add(d, varying() or product() if rng.random() < 0.4 else value(), a, guard)
        elif r < 0.76 and TYPE != "bf16x2":
            k.raw(f"neg.{TYPE} {k.reg('n' + d)}, {k.reg(product())};")
            add(d, "n" + d, varying() or value())
        elif r < 0.79:
            k.raw(f"mov.{REG} {k.reg('m' + d)}, {k.reg(product())};")
            add(d, "m" + d, varying() or value())
        elif r < 0.84:
            k.cut(rng)
            local.clear()
        elif r < 0.91 and len(scopes) < 4:
            s = f"s{n}" if rng.random() < 0.4 else None
            if s:
                k.raw(f"mov.{REG} {k.reg(s)}, {k.reg('a7')};")
                k.begin_loop()
            else:
                k.begin_if()
            local.clear()
            scopes.append([s] if s else [])
            mobile.append([])
            carried.append(s)
        elif r < 0.96 and len(scopes) > 1:
            close()
        else:
            k.store(product() if rng.random() < 0.2 else value())
    while len(scopes) > 1:
        close()
    for v in scopes[0][8:]:
        if rng.random() < 0.7:
            k.store(v)
    return k.text()


print(f".version 9.0\n.target {SM}\n.address_size 64")
rng = random.Random(SEED)
for i, text in enumerate(SHAPES):
    if not (TYPE == "bf16x2" and "- " in text):
        print(shape(f"shape{i}", text))
for i in range(COUNT):
    print(random_kernel(f"random{i}", rng))
