"""Changes of texts and bytes, for the attacks."""
import re

NUMBERS = ['0', '1', '2', '3', '4', '7', '8', '16', '31', '32', '33', '63', '64', '65', '127',
           '128', '255', '256', '1024', '4095', '4096', '65535', '65536',
           '1048576', '2147483647', '2147483648', '4294967295', '4294967296', '9223372036854775807',
           '18446744073709551615', '-1', '-2147483648',
           '-9223372036854775808', '0x7fffffffffffffff', '0f7F800000', '0fFF800000', '0f7FC00000',
           '0d7FF0000000000000', '18446744073709551616']
TOKEN = re.compile(r'[%$A-Za-z_.][%$A-Za-z_0-9.]*|0[fFdDxX][0-9A-Fa-f]+|\d+|\s+|.', re.S)
NUMBER = re.compile(r'^(0[fFdDxX][0-9A-Fa-f]+|\d+)$')
MODIFIER = re.compile(r'\.[A-Za-z_0-9]+')


def like(token):
    """What kind of token it is: one is replaced by another of its kind most of the time."""
    if token.startswith('%'):
        return re.sub(r'\d+$', '', token)
    if NUMBER.match(token):
        return '0'
    return 'word' if token[0].isalpha() or token[0] in '._$' else token


def change_token(tokens, i, rng):
    token = tokens[i]
    how = rng.random()
    if how < 0.04:
        return ''
    if how < 0.08:
        return token + ' ' + token
    if NUMBER.match(token) and how < 0.7:
        return rng.choice(NUMBERS)
    if '.' in token and how < 0.3:
        others = [m for t in rng.sample(tokens, min(200, len(tokens))) for m in MODIFIER.findall(t)]
        parts = MODIFIER.findall(token)
        if parts and others:
            return token.replace(rng.choice(parts), rng.choice(others + ['', '.u8', '.s64', '.f64',
                '.v4', '.shared', '.local', '.global', '.const']), 1)
    if how < 0.97:
        same = [t for t in tokens if like(t) == like(token) and t != token]
        if same:
            return rng.choice(same)
    return rng.choice(tokens).strip() or ';'


def ptx(text, rng, changes):
    """Changes tokens and lines of PTX; lines of the launch script stay."""
    lines = text.split('\n')
    script = [line for line in lines if line.startswith('//!')]
    lines = [line for line in lines if not line.lstrip().startswith('//')]
    for _ in range(changes):
        if rng.random() < 0.4:
            i = rng.randrange(len(lines))
            how = rng.choice([0, 0, 1, 1, 2, 2, 3])
            if how == 0:
                del lines[i]
            elif how == 1:
                lines.insert(max(0, i + rng.randrange(-5, 6)), lines[i])
            elif how == 2:
                k = max(0, min(len(lines) - 1, i + rng.randrange(-5, 6)))
                lines[i], lines[k] = lines[k], lines[i]
            else:
                lines[i] = ''.join(rng.sample(TOKEN.findall(lines[i]),
                                              len(TOKEN.findall(lines[i]))))
            if not lines:
                break
        else:
            tokens = TOKEN.findall('\n'.join(lines))
            places = [i for i, t in enumerate(tokens) if t.strip()]
            if not places:
                break
            i = rng.choice(places)
            tokens[i] = change_token(tokens, i, rng)
            lines = ''.join(tokens).split('\n')
    return '\n'.join(script + lines)


def data(original, rng, changes, places=None):
    """Changes bytes; `places` are offsets near which most changes are made."""
    b = bytearray(original)
    for _ in range(changes):
        if not b:
            break
        at = rng.randrange(len(b))
        if places and rng.random() < 0.8:
            at = min(len(b) - 1, max(0, rng.choice(places) + rng.randrange(-16, 96)))
        how = rng.randrange(7)
        if how == 0:
            b[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            b[at] = rng.choice([0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)])
        elif how == 2:
            size = rng.choice([2, 4, 8])
            value = rng.choice([0, 1, (1 << 8 * size) - 1, 1 << (8 * size - 1), len(b),
                                rng.getrandbits(8 * size)])
            b[at:at + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, 'little')[:len(b) - at]
        elif how == 3:
            n = rng.choice([1, 4, 64, 512, 4096])
            b[at:at + n] = bytes(min(n, len(b) - at))
        elif how == 4:
            n, source = rng.choice([4, 16, 64, 512, 4096]), rng.randrange(len(b))
            piece = b[source:source + n][:len(b) - at]
            b[at:at + len(piece)] = piece
        elif how == 5:
            n = min(rng.choice([4, 64, 512]), len(b) - at)
            b[at:at + n] = rng.randbytes(n)
        elif rng.random() < 0.3:
            del b[at:]
        else:
            del b[at:at + rng.choice([1, 4, 64])]
    return bytes(b)
