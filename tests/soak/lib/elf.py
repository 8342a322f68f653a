"""Which bytes of an ELF file can change without changing what the processor executes."""
import struct

SHF_ALLOC = 2


def sections(data):
    """name, flags, type, offset, size of each section; nothing where the file is not ELF."""
    if data[:6] != b'\x7fELF\x02\x01':
        return []
    at, = struct.unpack_from('<Q', data, 40)
    size, count, names = struct.unpack_from('<HHH', data, 58)
    rows = [struct.unpack_from('<IIQQQQ', data, at + i * size) for i in range(count)]
    text = rows[names][4]
    return [(data[text + r[0]:data.index(b'\0', text + r[0])].decode(), r[2], r[1], r[4], r[5])
            for r in rows]


def quiet_bytes(data):
    """Ranges (start, end) that neither the kernel nor the loader nor the processor reads: CUDA
    code, symbols, debug information."""
    ranges = []
    for name, flags, kind, offset, size in sections(data):
        if kind not in (0, 8) and (not flags & SHF_ALLOC or name == '.nv_fatbin'):
            ranges.append((offset, offset + size))
    if ranges:
        at, = struct.unpack_from('<Q', data, 40)
        size, count, _ = struct.unpack_from('<HHH', data, 58)
        ranges.append((at, at + size * count))
    return [r for r in ranges if r[1] > r[0]]


def functions(data, prefixes):
    """Names, addresses and sizes of the functions in the symbol table whose names begin so; None:
    it cannot be read."""
    try:
        return read_functions(data, prefixes)
    except (struct.error, IndexError, ValueError):
        return None


def read_functions(data, prefixes):
    found = set()
    table = {name: (offset, size) for name, _, _, offset, size in sections(data)}
    if '.symtab' not in table or '.strtab' not in table:
        return found
    names, length = table['.strtab']
    start, size = table['.symtab']
    for at in range(start, start + size // 24 * 24, 24):
        name, info, _, section, value, bytes_ = struct.unpack_from('<IBBHQQ', data, at)
        text = data[names + name:data.find(b'\0', names + name)] if name < length else b''
        if info & 15 == 2 and text.startswith(tuple(p.encode() for p in prefixes)):
            found.add((text, section, value, bytes_))
    return found
