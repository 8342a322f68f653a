#!/usr/bin/env python3
"""contract_check.py A.cubin B.cubin: the names of the kernels whose code or attributes differ, one
a line."""
import struct
import sys


def kernels(path):
    data = open(path, "rb").read()
    shoff, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * size) for i in range(count)]
    out = {}
    for name, kind, _, _, offset, length, _, info, _, _ in heads:
        start = heads[names][4] + name
        section = data[start:data.index(b"\0", start)].decode()
        for prefix in (".text.", ".nv.info.", ".nv.constant0."):
            if section.startswith(prefix):
                kernel = out.setdefault(section[len(prefix):], {})
                # sh_info of a text section holds its register count
                kernel[prefix] = (info if prefix == ".text."
                                  else 0) >> 24, b"" if kind == 8 else data[offset:offset + length]
    return out


a, b = kernels(sys.argv[1]), kernels(sys.argv[2])
for name in sorted(set(a) | set(b)):
    if a.get(name) != b.get(name):
        print(name)
