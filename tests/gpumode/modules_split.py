#!/usr/bin/env python3
"""modules_split.py WHOLE PIECE…: every kernel of the whole cubin has the same machine code in the
piece that holds it."""
import struct
import sys


def texts(path):
    data = open(path, "rb").read()
    shoff, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * size) for i in range(count)]
    out = {}
    for head in heads:
        start = heads[names][4] + head[0]
        name = data[start:data.index(b"\0", start)].decode()
        if name.startswith(".text."):
            out[name] = data[head[4]:head[4] + head[5]]
    return out


whole, pieces = texts(sys.argv[1]), {}
for path in sys.argv[2:]:
    for name, code in texts(path).items():
        pieces.setdefault(name, []).append(code)
bad = [n for n in whole if n not in pieces or any(c != whole[n] for c in pieces[n])]
for name in bad:
    print(name, "is missing" if name not in pieces else "differs")
sys.exit(bool(bad))
