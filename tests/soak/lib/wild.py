"""Kernels that are made to reach memory that is not theirs."""

WIDTHS = ['u8', 'u16', 'u32', 'u64']


def address(rng):
    """Instructions that leave an address in %d2; %d1 is that of a buffer."""
    how = rng.randrange(6)
    if how == 0:
        return 'mov.u64 %%d2, %d;' % rng.getrandbits(rng.choice([8, 32, 40, 48, 64]))
    if how == 1:
        return ('mov.u64 %d3, s;\n  cvta.shared.u64 %d3, %d3;\n  add.s64 %d2, %d3, '
                + '%d;' % offset(rng))
    if how == 2:
        return 'mov.u64 %d3, l;\n  cvta.local.u64 %d3, %d3;\n  add.s64 %d2, %d3, ' + '%d;' % offset(
            rng)
    return 'add.s64 %d2, %d1, ' + '%d;' % offset(rng)


def offset(rng):
    return rng.choice([-1, 1]) * (rng.getrandbits(rng.choice([4, 10, 16, 24, 32, 40, 47,
        62])) & ~rng.choice([0, 7, 4095]))


def access(rng):
    width, space = rng.choice(WIDTHS), rng.choice(['', '', '.global', '.shared', '.local'])
    how = rng.randrange(4)
    if how == 0:
        return 'ld%s.%s %%v, [%%d2];' % (space, width)
    if how == 1 and space != '.local':
        return 'atom%s.add.u32 %%r1, [%%d2], 1;' % space
    if how == 2 and space != '.local':
        return 'red%s.or.b32 [%%d2], -1;' % space
    return 'st%s.%s [%%d2], %%v;' % (space, width)


def kernel(rng):
    lines = [address(rng) + '\n  ' + access(rng) for _ in range(rng.choice([1, 1, 2, 4, 16]))]
    return '''//! buffer a u64 64 zero
//! launch wild grid=2,1,1 block=%d,1,1 a
.version 7.0
.target sm_75
.address_size 64
.visible .entry wild(.param .u64 a) {
  .shared .align 8 .b8 s[64];
  .local .align 8 .b8 l[64];
  .reg .b64 %%d<4>, %%v;
  .reg .b32 %%r<2>;
  mov.u64 %%v, 0x%x;
  ld.param.u64 %%d1, [a];
  %s
  ret;
}
''' % (rng.choice([1, 32, 64]), rng.getrandbits(64), '\n  '.join(lines))
