# Run files made to do harm: objects of other kinds in place of tables, values of other types,
# numbers that overflow. Every reader must end, without a crash. hostile.py WARPGRIND RUN.wg FOLDER
# [SHARE [SEAL]]: values: one of SHARE of all changes; SEAL: a command that recomputes the checksums
# of a file.
import os, random, shutil, signal, sqlite3, subprocess, sys

warpgrind, original, folder = sys.argv[1:4]
share = int(sys.argv[4]) if len(sys.argv) > 4 else 1
seal = sys.argv[5:]
path = os.path.join(folder, "hostile.wg")
SECONDS = 60
failures = 0

QUESTIONS = {
    "report": ["report", path, "--json=" + os.path.join(folder, "h.json"), "--sarif="
               + os.path.join(folder, "h.sarif"), "--junit=" + os.path.join(folder, "h.xml")],
    "access": ["sql", path, "select * from access"],
    "contents": ["sql", path, "select count(*), sum(known) from contents((select max(id) from "
                 "allocation))"],
    "writer": ["sql", path, "select w.* from access a, writer(a.record, a.lane) w where a.kind = "
               "'load' limit 20; select * from race; select * from unwritten((select max(id) from "
               "allocation)); select * from thread"],
    "dump": ["dump", path],
    "diff": ["diff", path, original],
    "static": ["view", "--static", os.path.join(folder, "page"), path],
    "expand": ["expand", path, "--launch=1", "--device=cpu", "-o", os.path.join(folder,
        "expanded.wg")],
}

def fail(what, text):
    global failures
    failures += 1
    print("FAIL", what + ":", text)

def change(statements):
    shutil.copyfile(original, path)
    db = sqlite3.connect(path)
    db.execute("pragma writable_schema=on")
    for s in statements:
        try:
            if isinstance(s, tuple): db.execute(*s)
            else: db.execute(s)
        except sqlite3.Error as e:
            db.close()
            return str(e)
    db.commit()
    db.close()
    if seal: subprocess.run(seal + [path], check=True)
    return None

def ask(name):
    shutil.rmtree(os.path.join(folder, "page"), ignore_errors=True)
    try:
        r = subprocess.run([warpgrind] + QUESTIONS[name], capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None, ""
    return r.returncode, r.stderr.decode(errors="replace")

def ask_all(what, expected=None):
    for name in QUESTIONS:
        code, text = ask(name)
        if code is None: fail(what, name + " did not end")
        elif code < 0 or code > 125 or "AddressSanitizer" in text or "runtime error" in text:
            fail(what, "%s: exit code %s: %s" % (name, code, text[-300:]))
        elif expected and name != "expand" and (code not in (2, 125) or expected not in text):
            fail(what, "%s: exit code %d: %s" % (name, code, text[-300:]))

ENDLESS = ("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
           "SELECT x AS key, x AS value FROM c")
REFUSED = "was not written by Warpgrind alone"
OBJECTS = {
    "view_for_table": ["DROP TABLE meta", "CREATE VIEW meta AS " + ENDLESS],
    "view_for_step": ["DROP TABLE step", "CREATE VIEW step AS " + ENDLESS],
    "view_changed": ["DROP VIEW coverage", "CREATE VIEW coverage AS " + ENDLESS],
    "table_for_view": ["DROP VIEW coverage", "CREATE TABLE coverage (x)"],
    "trigger": ["CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM launch; END"],
    "virtual": ["CREATE VIRTUAL TABLE words USING fts4(a)"],
    "index": ["CREATE INDEX more ON launch(kernel)"],
    "index_changed": ["DROP INDEX frame_stack", "CREATE INDEX frame_stack ON frame(depth)"],
    "columns": ["DROP TABLE launch",
                "CREATE TABLE launch (id INTEGER PRIMARY KEY, process INTEGER)"],
    "generated": ["DROP TABLE note", "CREATE TABLE note (id INTEGER PRIMARY KEY,process "
                  "INTEGER,severity TEXT,text TEXT AS (printf('%.*c', 900000000, 'x')))"],
    "hides_access": ["CREATE VIEW access AS " + ENDLESS],
    "hides_contents": ["CREATE TABLE contents (x)"],
}
for name, statements in OBJECTS.items():
    why = change(statements)
    if why:
        print("skip object_" + name + ": this sqlite3 cannot make it:", why)
        continue
    before = failures
    ask_all("object_" + name, REFUSED)
    if failures == before: print("ok object_" + name)

# What a later version adds is no reason to refuse a file.
change(["CREATE TABLE source (id INTEGER PRIMARY KEY, path TEXT, text BLOB)",
        "INSERT INTO source VALUES (1, 'a.cu', x'00')",
        "INSERT INTO meta VALUES ('of_a_later_version', '1')", "CREATE VIEW later AS SELECT * "
        "FROM source"])
codes = {q: ask(q)[0] for q in ("report", "access", "contents", "dump", "diff", "static")}
if any(codes.values()): fail("unknown_table", codes)
else: print("ok unknown_table")

VALUES = [None, -1, 0, 2**63 - 1, -2**63, 2**32 + 1, 1.5e308, "", "x" * 200000, "%s%n",
          b"\xff\x00\xfe", bytes(5000)]
db = sqlite3.connect(original)
targets = [(t, c[1]) for (t,) in db.execute("select name from sqlite_schema where type = 'table' "
                                            "and name not like 'sqlite_%' order by name").fetchall()
           for c in db.execute("pragma table_info(%s)" % t).fetchall()
           if db.execute("select count(*) from %s" % t).fetchone()[0]]
db.close()
changes = [(t, c, v) for t, c in targets for v in VALUES]
random.Random(1).shuffle(changes)
before = failures
for t, c, v in changes[: len(changes) // share]:
    which = "" if t != "meta" or c != "key" else " WHERE key = 'device'"
    text = repr(v)[:30]
    if change([("UPDATE OR IGNORE %s SET %s = ?%s" % (t, c, which), (v,))]): continue
    ask_all("value_%s_%s_%s" % (t, c, text))
if failures == before: print("ok values")
SUMS = {
    "allocations": ["UPDATE allocation SET size = 9223372036854775807"],
    "allocation_sizes": ["UPDATE allocation SET base = 0, size = (1 << 63) + 64"],
    "threads": ["UPDATE launch SET grid_x = 2147483648, grid_y = 2147483648, grid_z = 4"],
    "blocks": ["UPDATE launch SET block_x = 65536, block_y = 65536, block_z = 1"],
    "launch_times": ["UPDATE launch SET time_ns = 9223372036854775807"],
    "copies": ["UPDATE step SET width = -1, height = -1, depth = -1"],
    "copy_rows": ["UPDATE step SET width = 1, height = 1 << 62, depth = 1, to_pitch = 0, "
                  "from_pitch = 0"],
    "copy_slices": ["UPDATE step SET width = 4, height = 3, depth = 1 << 60, to_pitch = 1, "
                    "to_rows = 0"],
    "sets": ["UPDATE step SET value_bytes = -1, width = 1 << 62"],
    "contents": ["UPDATE trace_contents SET bytes = 1 << 62, address = -1"],
    "chunks": ["UPDATE trace_chunk SET bytes = -1, directory = -2, records = -1"],
    "counts": ["UPDATE finding SET count = 9223372036854775807"],
}
for name, statements in SUMS.items():
    before = failures
    why = change(statements)
    if why: fail("sum_" + name, why)
    ask_all("sum_" + name)
    if failures == before: print("ok sum_" + name)
sys.exit(failures != 0)
