# Questions about the run of odd.cu: odd.py URL
import json, struct, sys, urllib.error, urllib.parse, urllib.request

def get(path, **q):
    try:
        with urllib.request.urlopen(sys.argv[1] + "api/" + path + ("?" + urllib.parse.urlencode(q)
            if q else "")) as r: return r.status, r.read()
    except urllib.error.HTTPError as e: return e.code, e.read()
def ask(path, **q):
    status, body = get(path, **q)
    if status != 200: raise Exception("%s %s: %d %s" % (path, q, status, body[:200]))
    return json.loads(body)
def check(name, ok, why=""): print("ok " + name if ok else "FAIL %s: %s" % (name, why), flush=True)

flow = ask("flow")
buffers = {b["name"]: b for b in ask("buffers")["buffers"] if b.get("name")}
check("types", buffers["cell"].get("type") == "int" and buffers["numbers"].get("type") == "float"
      and buffers["small"].get("type") == "unsigned char"
      and buffers["particles"].get("type") == "Particle", buffers)
check("given", buffers["cell"].get("given") == "cell" and buffers["numbers"].get("given") == "f",
      (buffers["cell"], buffers["numbers"]))
types = ask("types")["types"]
check("types_of_fields", [p[0] for p in types[str(buffers["particles"]["type_id"])]["parts"]] ==
      [".x", ".y", ".id", ".flags[]"], types)

def element(b, offset, n):
    return ask("element", allocation=b["id"], address="0x%x" % (int(b["base"], 16) + offset),
               bytes=n)["ops"]
cell = buffers["cell"]
ordered = [o for o in element(cell, 4, 4) if o[2] == 1]
unordered = [o for o in element(cell, 8, 4) if o[2] == 1]
check("ordered_writes", len(ordered) == 2 and not any(o[11] & 8 for o in ordered), ordered)
check("unordered_writes", len(unordered) == 2 and all(o[11] & 8 for o in unordered), unordered)
o, u = (next(s for s in flow["steps"] if s[2] == "launch" and flow["kernels"][str(s[4])].startswith(
    n)) for n in ("ordered", "unordered"))
handed, apart = ([x for x in element(cell, at, 4) if x[2] == 1] for at in (12, 16))
check("handed_over", len(handed) == 2 and not any(x[11] & 8 for x in handed), handed)
check("blocks_apart", len(apart) == 2 and all(x[11] & 8 for x in apart), apart)
check("no_conflict", ask("conflicts", launch=o[3], thread=0)["of"] == [], ask("conflicts",
    launch=o[3], thread=0)["of"])
conflict = ask("conflicts", launch=u[3], thread=0)["of"]
check("conflict", len(conflict) == 1 and conflict[0][1][0][5] == 40, conflict)
# all: every operation is looked at
load = next(x for x in element(buffers["twin"], 0, 4) if x[2] == 2)
check("writers_all", "ops" in ask("writers", record=load[0], lane=load[1], all=1) and get("writers",
    record=load[0], lane=load[1], all=2)[0] == 400)

copies = [ask("step", id=s[0]) for s in flow["steps"] if s[2] == "copy"]
flat = next(c for c in copies if c["to_buffer"] == buffers["twin"]["id"])
check("copy", flat["from_buffer"] == cell["id"] and flat["width"] * flat["height"] == 16
      and int(flat["to"], 16) == int(buffers["twin"]["base"], 16) + 16, flat)
check("copy_stack", any(f[0] == "main" and f[1].endswith("odd.cu") for f in flat["stack"]),
      flat["stack"])
rect = next(c for c in copies if c["to_buffer"] == buffers["part"]["id"])
check("rectangle", (rect["width"], rect["height"], rect["to_pitch"], rect["from_pitch"]) == (16, 4,
    16, 64) and rect["from_buffer"] == buffers["grid"]["id"], rect)
check("no_step", get("step", id=99999999)[0] == 404 and get("step", id=-1)[0] == 400
      and get("step")[0] == 400)

# One element of half a million is unlike the others: its pixel says which.
wide = buffers["wide"]
q = dict(allocation=wide["id"], type="f32", width=1024, pool_x=64, pool_y=64)
at = dict(x=377777 % 1024 // 64, y=377777 // 1024 // 64)
check("pixel", ask("pixel", **q, **at)["high"] == 377777, ask("pixel", **q, **at))
check("pixel_low", ask("pixel", **q, x=0, y=0)["low"] == 0)
n = buffers["numbers"]
p = ask("pixel", allocation=n["id"], type="f32", width=6, pool_x=6, pool_y=1, x=0, y=0)
check("pixel_specials", (p["nan"], p["plus"], p["minus"], p["high"]) == (0, 1, 2, 5)
      and p["low"] in (3, 4), p)
check("pixel_refused", all(get("pixel", **{**q, **at, **bad})[0] == 400 for bad in (dict(x=16),
    dict(width=0), dict(pool_x=0), dict(type="f31"), dict(components=0), dict(component=1),
    dict(pool_x=1 << 24, pool_y=1 << 24), dict(x=-1))))
check("pixel_outside", ask("pixel", **{**q, **dict(x=0, y=9999)}) == {})
# Bands of a picture together are the picture.
def picture(first, rows):
    b = get("picture", allocation=wide["id"], type="f32", width=1024, rows=rows, first=first,
            pool_x=4, pool_y=4)[1]
    c, r = struct.unpack_from("<II", b)
    return [b[24 + k * 4 * c * r:24 + (k + 1) * 4 * c * r] for k in range(3)] + [b[24
        + 12 * c * r:]]
whole, low, high = picture(0, 512), picture(0, 256), picture(256 * 1024, 256)
check("bands", all(whole[k] == low[k] + high[k] for k in range(4)))
# A buffer that was freed, and the one that came to its place.
check("freed", buffers["particles"]["freed"])
bits = ask("calc", expression="__int_as_float(0x7f800001)")
check("nan_bits", bits["hex"] == "0x7f800001" and bits["value"] == "nan", bits)
check("nan_bits_back", ask("calc", expression="__float_as_uint(__uint_as_float(0xffc00123))")[
    "hex"] == "0xffc00123" and ask("calc", expression="__half_as_ushort(__ushort_as_half(0x7c01))")[
        "hex"] == "0x00007c01"
      and ask("calc", expression="__double_as_longlong(__longlong_as_double(0x7ff0000000000001))")[
          "hex"] == "0x7ff0000000000001")
check("nan_made", ask("calc", expression="0.0f / 0.0f")["hex"] in ("0x7fffffff", "0x7fc00000"),
      ask("calc", expression="0.0f / 0.0f"))
