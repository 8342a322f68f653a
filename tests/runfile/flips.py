# Single damaged bits: every answer from the file is the same as before, or an error that says that
# the file is damaged. flips.py WARPGRIND RUN.wg OTHER.wg FOLDER COUNT [SEED]; a -wal beside RUN.wg
# is damaged too.
import os, random, shutil, sqlite3, subprocess, sys

warpgrind, original, other, folder, count = sys.argv[1:5] + [int(sys.argv[5])]
seed = int(sys.argv[6]) if len(sys.argv) > 6 else 1
path, page = os.path.join(folder, "flipped.wg"), os.path.join(folder, "page")
DAMAGED = ("damaged", "is not a run file", "was written by", "malformed")

tables = subprocess.run([warpgrind, "sql", original, "select name from sqlite_schema where type "
                         "in ('table', 'view') order by name"], capture_output=True,
                         check=True).stdout.decode().split()[1:]
allocations = subprocess.run([warpgrind, "sql", original, "select id from allocation where size "
                              "between 1 and 65536"], capture_output=True,
                              check=True).stdout.decode().split()[1:]
everything = ["select * from " + t for t in tables if not t.startswith("trace_block")
              and not t.startswith("sqlite_")] + ["select id, hex(data) from trace_block",
                                                  "select * from access", "select * from race"]
everything += ["select * from contents(%s)" % a for a in allocations] + ["select * from "
    "unwritten(%s)" % a for a in allocations]
if "trace_chunk" not in tables:
    everything = [q for q in everything if "access" not in q and "race" not in q
                  and "trace_" not in q and "contents" not in q and "unwritten" not in q]
QUESTIONS = {"report": ["report", path], "sql": ["sql", path, "; ".join(everything)],
             "diff": ["diff", "--all", path, other], "static": ["view", "--static", page, path]}

def ask(name):
    shutil.rmtree(page, ignore_errors=True)
    r = subprocess.run([warpgrind] + QUESTIONS[name], capture_output=True, timeout=120)
    text = r.stdout
    if name == "report": text += b"\n".join(l.split(b"==", 2)[-1] for l in r.stderr.split(b"\n"))
    for folder_, _, files in sorted(os.walk(page)):
        for f in sorted(files): text += f.encode() + open(os.path.join(folder_, f), "rb").read()
    return r.returncode, text, r.stderr.decode(errors="replace")

def put(data, wal):
    for ending in ("", "-wal", "-shm"):
        if os.path.exists(path + ending): os.remove(path + ending)
    open(path, "wb").write(data)
    if wal: open(path + "-wal", "wb").write(wal)

data = open(original, "rb").read()
wal = open(original + "-wal", "rb").read() if os.path.exists(original + "-wal") else b""
put(data, wal)
expected = {q: ask(q) for q in QUESTIONS}
for q, (code, text, err) in list(expected.items()):
    # a run without hashes has nothing to compare, a command without the page makes none
    if code in (0, 1): continue
    if q == "static" and "without the page" not in err: print("FAIL", q + ":", err.strip())
    del expected[q], QUESTIONS[q]
rng = random.Random(seed)
same = refused = wrong = cut = 0
for n in range(count):
    bit = rng.randrange(8 * (len(data) + len(wal)))
    changed, log = bytearray(data), bytearray(wal)
    if bit < 8 * len(data): changed[bit // 8] ^= 1 << bit % 8
    else: log[bit // 8 - len(data)] ^= 1 << bit % 8
    put(changed, log)
    for q in QUESTIONS:
        code, text, err = ask(q)
        if code == expected[q][0] and text == expected[q][1]: same += 1
        elif code in (2, 125) and any(d in err for d in DAMAGED): refused += 1
        # the last transaction of a killed command: nobody can know
        elif "-wal is not complete" in err: cut += 1
        else:
            wrong += 1
            print("FAIL bit %d (byte %d), %s: exit code %d: %s" % (bit, bit // 8, q, code,
                err[-200:]))
print(("ok" if not wrong else "FAIL") + " flips: %d flips (seed %d): %d answers the same, %d say "
      "that the file is damaged, %d that its end is missing, %d wrong" % (count, seed, same,
          refused, cut, wrong))
sys.exit(wrong != 0)
