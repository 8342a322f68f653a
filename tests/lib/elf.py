"""Sections and symbols of an ELF file, and which of its bytes the processor never executes."""
import collections
import struct

SHF_ALLOC = 2
Section = collections.namedtuple('Section', 'name flags kind offset size address')
Symbol = collections.namedtuple('Symbol', 'name at info section value size')     # at: in the file


def sections(data):
    """Nothing where the file is not ELF."""
    if data[:6] != b'\x7fELF\x02\x01':
        return []
    at, = struct.unpack_from('<Q', data, 40)
    size, count, names = struct.unpack_from('<HHH', data, 58)
    rows = [struct.unpack_from('<IIQQQQ', data, at + i * size) for i in range(count)]
    begins = [rows[names][4] + r[0] for r in rows]
    texts = [data[begin:data.index(b'\0', begin)].decode() for begin in begins]
    return [Section(text, r[2], r[1], r[4], r[5], r[3]) for text, r in zip(texts, rows)]


def quiet_bytes(data):
    """Ranges (start, end) that neither the kernel nor the loader nor the processor reads: CUDA
    code, symbols, debug information."""
    ranges = []
    for s in sections(data):
        if s.kind not in (0, 8) and (not s.flags & SHF_ALLOC or s.name == '.nv_fatbin'):
            ranges.append((s.offset, s.offset + s.size))
    if ranges:
        at, = struct.unpack_from('<Q', data, 40)
        size, count, _ = struct.unpack_from('<HHH', data, 58)
        ranges.append((at, at + size * count))
    return [r for r in ranges if r[1] > r[0]]


def symbols(data):
    """Those of the symbol table, names as bytes; none if the file has no table."""
    table = {s.name: s for s in sections(data)}
    if '.symtab' not in table or '.strtab' not in table:
        return
    names = table['.strtab']
    start, size = table['.symtab'].offset, table['.symtab'].size
    for at in range(start, start + size // 24 * 24, 24):
        name, info, _, section, value, bytes_ = struct.unpack_from('<IBBHQQ', data, at)
        begin = names.offset + name
        text = bytes(data[begin:data.find(b'\0', begin)]) if name < names.size else b''
        yield Symbol(text, at, info, section, value, bytes_)


def functions(data, prefixes):
    """Names, addresses and sizes of the functions in the symbol table whose names begin so; None:
    it cannot be read."""
    begins = tuple(p.encode() for p in prefixes)
    try:
        return {(s.name, s.section, s.value, s.size) for s in symbols(data)
                if s.info & 15 == 2 and s.name.startswith(begins)}
    except (struct.error, IndexError, ValueError):
        return None
