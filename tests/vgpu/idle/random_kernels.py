# Prints PTX of kernels whose blocks do something only where a random condition holds, and launches
# of them: random_kernels.py SEED COUNT
import random, sys
seed, count = int(sys.argv[1]), int(sys.argv[2])
r = random.Random(seed)
launches, kernels = [], []
for k in range(count):
    body, n32, n64 = [], 0, 0
    def new32():
        global n32
        n32 += 1
        return f'%x{n32}'
    words = []
    for sreg in ('%ctaid.x', '%tid.x', '%ctaid.y', '%ntid.x', '%nctaid.x'):
        x = new32(); body.append(f'mov.u32 {x}, {sreg};'); words.append(x)
    x = new32(); body.append(f'ld.param.u32 {x}, [n];'); words.append(x)
    constant = lambda: str(r.choice([0, 1, 2, 3, 7, 16, 31, 64, 255, 1000, 65535, 70000, -1, -5,
                                     -70000, 2147483647, r.randrange(1 << 17), r.randrange(-1 << 31,
                                         1 << 31)]))
    operand = lambda: r.choice(words) if r.random() < 0.75 else constant()
    for _ in range(r.randrange(2, 9)):
        x = new32(); a = r.choice(words[:2] + words)
        op = r.randrange(12)
        if op < 3:
            body.append(f'mad.lo.{r.choice("su")}32 {x}, {a}, {r.choice(words[1:5])}, {operand()};')
        elif op < 5:
            body.append(f'{r.choice(["add", "sub"])}.{r.choice("su")}32 {x}, {a}, {operand()};')
        elif op == 5:
            body.append(
                f'{r.choice(["shl.b32", "shr.u32", "shr.s32"])} {x}, {a}, '
                f'{r.choice([0, 1, 3, 8, 31, 32, 40])};')
        elif op == 6: body.append(f'{r.choice(["and", "or", "xor"])}.b32 {x}, {a}, {operand()};')
        elif op == 7:
            body.append(f'{r.choice(["min", "max"])}.{r.choice("su")}32 {x}, {a}, {operand()};')
        elif op == 8:
            body.append(
                f'setp.{r.choice(["lt", "ge", "eq"])}.s32 %p9, {a}, {operand()}; selp.b32 '
                f'{x}, {r.choice(words)}, {operand()}, %p9;')
        elif op == 9:
            n64 += 1
            body.append(
                f'{r.choice(["mul.wide.u32", "mul.wide.s32"])} %y{n64}, {a}, {operand()}; '
                f'{r.choice(["shr.u64", "shr.s64", "shl.b64"])} %y{n64}, %y{n64}, '
                f'{r.choice([0, 2, 16, 32])}; cvt.u32.u64 {x}, %y{n64};')
        elif op == 10:
            body.append(
                f'setp.ge.u32 %p8, {a}, {operand()}; mov.u32 {x}, {operand()}; @%p8 add.s32 '
                f'{x}, {a}, 1;')
        else:
            n64 += 1
            body.append(
                f'cvt.{r.choice("su")}64.{r.choice("su")}32 %y{n64}, {a}; add.s64 %y{n64}, '
                f'%y{n64}, {constant()}; setp.gt.{r.choice("su")}64 %p7, %y{n64}, '
                f'{constant()}; selp.b32 {x}, 1, {operand()}, %p7;')
        words.append(x)
    last = words[-1]
    for i in range(r.randrange(1, 3)):
        a = last if i == 0 else r.choice(words)
        body.append(
            f'setp.{r.choice(["lt", "le", "gt", "ge", "eq", "ne"])}.{r.choice("su")}32 %p{i}, '
            f'{a}, {operand()};')
        body.append(r.choice([f'@%p{i} bra END;', f'@!%p{i} bra END;', f'@%p{i} exit;']))
    kernels.append(
        f'.visible .entry k{k}(.param .u64 out, .param .u32 n) {{\n .reg .b32 %x<40>; .reg '
        f'.b64 %y<40>; .reg .pred %p<10>; .reg .b64 %o;\n ' + '\n '.join(body) +
                   f'\n ld.param.u64 %o, [out]; red.global.add.u32 [%o+{8 * k}], 1; '
                   f'red.global.xor.b32 [%o+{8 * k + 4}], {last};\nEND: ret;\n}}')
    grid = r.choice(['65536', '70001', '100000', '300,250', '65537'])
    launches.append(
        f'//! launch k{k} grid={grid} block={r.choice([1, 2, 3, 32])} out '
        f's32:{r.choice([0, 1, 100, 5000, 70000, -3])}')
print(f'//! buffer out u32 {2 * count} zero')
print('\n'.join(launches))
print('//! print out\n.version 7.8\n.target sm_75\n.address_size 64')
print('\n'.join(kernels))
