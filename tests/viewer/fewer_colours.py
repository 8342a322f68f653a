# PNG files as Chromium writes them, made smaller: a palette of at most 256 colours. Half of them
# are the most frequent ones, the others those that are farthest from all that are there: few pixels
# are red, but that they are matters. fewer_colours.py FILE… FOLDER
import collections, os, struct, sys, zlib

def chunks(data):
    at = 8
    while at < len(data):
        n, kind = struct.unpack_from(">I4s", data, at)
        yield kind, data[at + 8:at + 8 + n]
        at += 12 + n

def read(path):
    parts, pixels = {}, b""
    for kind, body in chunks(open(path, "rb").read()):
        if kind == b"IDAT": pixels += body
        else: parts[kind] = body
    width, height, depth, colour = struct.unpack_from(">IIBB", parts[b"IHDR"])
    assert depth == 8 and colour in (2, 6)
    step = 3 if colour == 2 else 4
    raw, line, before, out = zlib.decompress(pixels), width * step, bytearray(width * step), []
    for y in range(height):
        kind, row = raw[y * (line + 1)], bytearray(raw[y * (line + 1) + 1:(y + 1) * (line + 1)])
        if kind == 1:
            for i in range(step, line): row[i] = (row[i] + row[i - step]) & 255
        elif kind == 2:
            for i in range(line): row[i] = (row[i] + before[i]) & 255
        elif kind == 3:
            for i in range(line):
                row[i] = (row[i] + ((row[i - step] if i >= step else 0) + before[i]) // 2) & 255
        elif kind == 4:
            for i in range(line):
                a, b, c = row[i - step] if i >= step else 0, before[i], before[
                    i - step] if i >= step else 0
                p = a + b - c
                pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
                row[i] = (row[i] + (a if pa <= pb and pa <= pc else b if pb <= pc else c)) & 255
        before = row
        out.append([bytes(row[i:i + 3]) for i in range(0, line, step)])
    return width, height, out

def write(path, width, height, rows):
    count = collections.Counter(c for row in rows for c in row)
    coarse = lambda c: (c[0] >> 3, c[1] >> 3, c[2] >> 3)
    apart = lambda c, d: (c[0] - d[0]) ** 2 + (c[1] - d[1]) ** 2 + (c[2] - d[2]) ** 2
    palette = [c for c, _ in count.most_common(128)]
    # Of colours that are nearly the same, the most frequent one stands for all.
    groups, weight = {}, collections.Counter()
    for c, n in count.most_common():
        groups.setdefault(coarse(c), c)
        weight[coarse(c)] += n
    far = {g: min(apart(c, d) for d in palette) for g, c in groups.items()}
    while len(palette) < min(256, len(count)):
        g = max(far, key=lambda g: far[g] * weight[g] ** .5)
        if not far[g]: break
        palette.append(groups[g])
        for h, c in groups.items(): far[h] = min(far[h], apart(c, groups[g]))
    index = {c: i for i, c in enumerate(palette)}
    nearest = {g: min(range(len(palette)), key=lambda i: apart(c, palette[i]))
               for g, c in groups.items()}
    for c in count: index.setdefault(c, nearest[coarse(c)])
    data = b"".join(b"\0" + bytes(index[c] for c in row) for row in rows)
    part = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I",
        zlib.crc32(kind + body))
    open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", width,
        height, 8, 3, 0, 0, 0)) + part(b"PLTE", b"".join(palette)) +
                           part(b"IDAT", zlib.compress(data, 9)) + part(b"IEND", b""))

for f in sys.argv[1:-1]:
    if os.path.basename(f) != "failed.png":
        write(os.path.join(sys.argv[-1], os.path.basename(f)), *read(f))
