#!/usr/bin/env python3
"""Compares the code, attributes and constants of two cubins: .text.*, .nv.info*, .nv.constant*,
.nv.global*, .nv.shared*.
Exit code 0: the same; 1: different (the first difference is printed)."""
import struct
import sys

COMPARED = (".text.", ".nv.info", ".nv.constant", ".nv.global", ".nv.shared", ".nv.local",
            ".nv.callgraph", ".nv.prototype")


def sections(path):
    data = open(path, "rb").read()
    if data[:4] != b"\x7fELF":
        sys.exit(f"{path}: not an ELF file")
    shoff, = struct.unpack_from("<Q", data, 40)
    shentsize, shnum, shstrndx = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * shentsize) for i in range(shnum)]
    names = heads[shstrndx]
    out = {}
    for name, kind, flags, addr, offset, size, link, info, align, entsize in heads:
        start = names[4] + name
        text = data[start:data.index(b"\0", start)].decode()
        if text.startswith(COMPARED):
            no_bytes = kind == 8 or text.startswith((".nv.shared",
                ".nv.local")) or text == ".nv.global"
            out[text] = (size, b"" if no_bytes else data[offset:offset + size])
    return out


def main():
    a, b = sections(sys.argv[1]), sections(sys.argv[2])
    if sorted(a) != sorted(b):
        print("sections differ:", " ".join(sorted(set(a) ^ set(b))))
        return 1
    for name in a:
        if a[name] != b[name]:
            x, y = a[name][1], b[name][1]
            at = next((i for i in range(min(len(x), len(y))) if x[i] != y[i]), min(len(x), len(y)))
            print(f"{name} differs at byte {at} (sizes {a[name][0]} and {b[name][0]})")
            return 1
    return 0


sys.exit(main())
