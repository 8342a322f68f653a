"""Checksums of a run file's pages, made anew after a change: docs/run-file.md has the layout."""
import struct

RESERVED, MARK = 8, b'WGp2'


def make_table():
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    return table


TABLE = make_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def has_checksums(data):
    return len(data) >= 100 and data[:15] == b'SQLite format 3' and data[20] == RESERVED


def page_bytes(data):
    size, = struct.unpack_from('>H', data, 16)
    return 65536 if size == 1 else size


def seal(data, original=None):
    """The file with the checksum of each page; pages that are as in `original` keep theirs."""
    if not has_checksums(data):
        return data
    b, size = bytearray(data), page_bytes(data)
    for number in range(len(b) // size if size >= 512 else 0):
        page = b[number * size:(number + 1) * size]
        if original and original[number * size:(number + 1) * size] == page:
            continue
        body = bytes(page[:-RESERVED])
        b[(number + 1) * size - RESERVED:(number + 1) * size] = struct.pack('<I',
            crc32c(body + struct.pack('<Q', number + 1))) + MARK
    return bytes(b)
