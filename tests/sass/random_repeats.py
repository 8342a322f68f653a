#!/usr/bin/env python3
"""Kernels for tests/sass/repeats.sh: random_repeats.py conditions|flows SEED.

conditions: a condition of the parameters decides between an access that depends on data and one
that does not. The program prints, for several parameters, which one it is.
flows: values go through arithmetic, branches, loops and memory, and become an index. Where data
have gone into it the launch must not be taken for a repeat."""
import random
import sys

kind, seed = sys.argv[1], int(sys.argv[2])
chance = random.Random(seed)
print("#include <cstdio>\n#include <cstdint>\n#include <cstring>\n")


def pick(*choices):
    return chance.choice(choices)


# --- conditions ---

NAMES = {"a": "int", "b": "int", "u": "unsigned", "v": "unsigned", "l": "long long",
         "m": "unsigned long long"}


def atom():
    return pick(*NAMES, str(chance.choice([0, 1, 2, 3, 7, 31, 255, 65536, 0x7fffffff])))


def number(depth):
    if depth == 0 or chance.random() < 0.2:
        return atom()
    one, two = number(depth - 1), number(depth - 1)
    return pick(f"({one} + {two})", f"({one} - {two})", f"({one} * {two})", f"({one} & {two})",
                f"({one} | {two})", f"({one} ^ {two})",
                f"((unsigned)({one}) >> {chance.randrange(32)})",
                f"((unsigned)({one}) << {chance.randrange(32)})",
                f"((int)({one}) >> {chance.randrange(32)})", f"(~({one}))",
                f"({atom()} {pick('<', '==')} {atom()} ? {one} : {two})",
                f"((unsigned char)({one}))",
                f"((unsigned long long)({one}) >> {chance.randrange(64)})")


def condition(depth):
    if depth == 0 or chance.random() < 0.3:
        return f"({number(1)} {pick('<', '<=', '>', '>=', '==', '!=')} {number(1)})"
    one, two = condition(depth - 1), condition(depth - 1)
    return pick(f"({one} && {two})", f"({one} || {two})", f"(!{one})",
                f"({number(2)} {pick('<', '<=', '>', '>=', '==', '!=')} {number(2)})")


def values():
    small = [0, 1, 2, 3, 7, 8, 255, 256, 65535, 65536]
    wide = small + [0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe]
    longs = wide + [1 << 32, (1 << 32) + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
    a, b, u, v = (chance.choice(wide) for _ in range(4))
    return a, b, u, v, chance.choice(longs), chance.choice(longs)


def conditions():
    params = ", ".join(f"{t} {n}" for n, t in NAMES.items())
    kernels = 40
    for k in range(kernels):
        print(f"#define CONDITION{k} ({condition(2)})")
        print(f"""extern "C" __global__ void k{k}(const int *index, int *out, {params}) {{
  if (CONDITION{k}) out[index[threadIdx.x]] = 1;
  else out[threadIdx.x] = 2;
}}
static bool c{k}({params}) {{ return CONDITION{k}; }}""")
    print("int main() {")
    for k in range(kernels):
        for _ in range(4):
            a, b, u, v, l, m = values()
            # offsets as nvcc lays the parameters out
            spec = (f"p0 p8 16={a} 20={b} 24={u} 28={v} 32={l & 0xffffffff} 36={l >> 32} "
                    f"40={m & 0xffffffff} 44={m >> 32}")
            print(f"""  printf("k{k} %s {spec}\\n", c{k}((int){a}u, (int){b}u, {u}u, {v}u, """
                  f"""(long long){l}ull, {m}ull) ? "no" : "yes");""")
    print("}")


# --- flows ---


class Flow:
    """A kernel of statements over int variables; `data` holds those that depend on data."""

    def __init__(self):
        self.lines, self.data, self.n = [], set(), 0
        self.plain = ["(int)threadIdx.x", "(int)blockIdx.x", "n", "m"]

    def new(self, text, depends):
        name = f"x{self.n}"
        self.n += 1
        self.lines.append(f"  int {name} = {text};")
        (self.data.add if depends else self.plain.append)(name)
        return name

    def any(self):
        return pick(*self.plain, *sorted(self.data))

    def statement(self):
        one, two = self.any(), self.any()
        two = two if two != one else "17"  # no operand may vanish
        depends = one in self.data or two in self.data
        form = chance.randrange(11)
        if form == 0:
            self.new(f"in[(threadIdx.x + {chance.randrange(64)}) & 127]", True)
        elif form == 1:
            self.new(f"{one} * {2 * chance.randrange(50) + 1} + {two}", depends)
        elif form == 2:
            shifted = f"({two} << {1 + chance.randrange(3)})"
            self.new(f"({one} + {chance.randrange(9)}) ^ {shifted}", depends)
        elif form == 3:
            third = self.any()
            self.new(f"(unsigned){one} < (unsigned){two} ? {third} + 1 : {third} - 1",
                     depends or third in self.data)
        elif form == 4:
            count = pick("n & 7", "m & 3")
            name = self.new(one, one in self.data or two in self.data)
            self.lines.append(f"  for (int i = 0; i < ({count}); i++) {name} = {name} * 3 + {two};")
        elif form == 5:
            name = self.new(one, depends)
            self.lines.append(f"  if ({two} & 1) {name} += {chance.randrange(1, 9, 2)};")
        elif form == 6:
            self.new(f"__shfl_xor_sync(~0u, {one}, {1 << chance.randrange(5)})", one in self.data)
        elif form == 7:
            divisor = pick("((n & 15) + 1)", "7", "((m & 3) + 2)")
            self.new(f"{one} / {divisor} + {two} % {divisor}", depends)
        elif form == 8:  # left early
            name = self.new(one, depends)
            self.lines.append(f"  for (int i = 0; i < 8; i++) {{ if ({two} + i * 7 > 60) break; "
                              f"{name} += 3; }}")
        elif form == 9:  # each turn computes the same
            name = self.new("0", one in self.data)
            load = "((volatile const int *)in)[threadIdx.x & 127]"
            self.lines.append(f"  for (int i = 0;; i++) {{ {name} = {one} * 3 + 1; "
                              f"if ({load} + {two} > i) break; }}")
        else:
            name = self.new(one, depends)
            self.lines.append(f"  while ({name} > {100 + chance.randrange(100)} + ({two} & 63)) "
                              f"{name} -= ({name} >> 2) + 1;")


def flows():
    kernels, lines = 60, []
    for k in range(kernels):
        f = Flow()
        for _ in range(chance.randrange(2, 10)):
            f.statement()
        index = f"x{f.n - 1}" if f.n else "n"
        depends = index in f.data
        guard = f.any() if chance.random() < 0.3 else None
        store = f"out[{index} & 1023] = 1;"
        if guard:
            store = f"if ({guard} * 5 + 3 & 16) {store}"
            depends |= guard in f.data
        body = "\n".join(f.lines)
        print(f"""extern "C" __global__ void k{k}(const int *in, int *out, int n, int m) {{
{body}
  {store}
}}""")
        lines.append(f'  puts("k{k} {"no" if depends else "yes"} p0 p8");')
    print("int main() {\n" + "\n".join(lines) + "\n}")


conditions() if kind == "conditions" else flows()
