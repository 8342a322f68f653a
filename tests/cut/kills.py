#!/usr/bin/env python3
"""Kills the command, the program or both at random moments and asks the run file that is left.

  kills.py WARPGRIND LADDER FOLDER SEED COUNT

The file must be readable, and everything it says must be true: contents that are called known are
what ladder.c computed, no
question names a difference between this run and a whole one, and the report says until when it
knows of the run.
Prints one line for each kill, and FAIL with the reason where something is wrong."""
import json, os, random, signal, subprocess, sys, time

warpgrind, ladder, folder, seed, count = sys.argv[1:4] + [int(sys.argv[4]), int(sys.argv[5])]
draw = random.Random(seed)
LAUNCHES, ELEMENTS, PACE = 3000, 256, 3000
OPTIONS = {
    "record": ["--tool=none", "--record"],
    "record-tools": ["--tool=memcheck", "--record", "--record-buffer=1"],
    "limit": ["--tool=none", "--record", "--record-disk=1"],
    "inputs": ["--record=inputs", "--inputs-rate=1000000"],
    "hash": ["--hash"],
    "check": ["--tool=memcheck"],
}


class Wrong(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Wrong(what)


def run(*args):
    done = subprocess.run([warpgrind, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300, text=True)
    return done.returncode, done.stdout, done.stderr


def sql(path, text):
    code, out, err = run("sql", path, text)
    need(code == 0, f"sql: {text}: {err.strip()}")
    return [line.split("\t") for line in out.splitlines()[1:]]


def rung(k, i):
    a = 0
    for j in range(1, k + 1):
        a = (a * 3 + j + i) & 0xFFFFFFFF
    return a


def children(pid):
    try:
        return [int(p) for p in open(f"/proc/{pid}/task/{pid}/children").read().split()]
    except OSError:
        return []


def start(mode, path, streams):
    args = [warpgrind, "--device=" + os.environ.get("KILLS_DEVICE", "cpu"), "-q", *OPTIONS[mode],
            "-o", path, "--", ladder, str(LAUNCHES), str(ELEMENTS), str(streams), "exit", str(PACE)]
    return subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def end(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


# Contents of a buffer behind a step must be those of the k-th rung where they are called known.
# certain: all must be known.
def check_contents(path, allocation, step, k, certain):
    first = draw.randrange(ELEMENTS - 4)
    known = {int(r[0]): (int(r[1] or 0), int(r[2])) for r in sql(path,
        f"SELECT \"offset\", value, known FROM contents({allocation}, {step}, {first * 4}, 16)")}
    for at, (value, state) in known.items():
        need(state == 1 or not certain,
             f"byte {at} of buffer {allocation} is not known behind step {step}, which is recorded")
        want = rung(k, at // 4) >> 8 * (at % 4) & 255
        need(state != 1 or value == want,
             f"byte {at} of buffer {allocation} behind step {step}: {value}, not {want}")


def check_recording(path, mode, streams):
    kind = "inputs" if mode == "inputs" else "launch"
    steps = [[int(x) for x in r] for r in sql(
        path, "SELECT s.id, n.number, s.committed, s.recorded FROM step s JOIN launch n "
        f"ON n.id = s.launch WHERE s.kind = '{kind}' ORDER BY s.number")]
    buffers = [int(r[0]) for r in sql(
        path, f"SELECT id FROM allocation WHERE size = {ELEMENTS * 4} ORDER BY id")]
    for s in steps:
        need(s[2] or not s[3], f"step {s[0]} is called recorded and is not committed")
    if not steps or not sql(path, "SELECT 1 FROM sqlite_master WHERE name = 'trace_chunk'"):
        return 0
    cut = next((i for i, s in enumerate(steps) if not s[2]), len(steps))
    chosen = {0, cut - 1, cut, len(steps) - 1, draw.randrange(len(steps)),
              draw.randrange(len(steps))}
    for i in sorted(c for c in chosen if 0 <= c < len(steps)):
        step, number = steps[i][:2]
        before = number - (kind == "inputs")                # launches that have run by then
        for b, allocation in enumerate(buffers):
            k = (before - b + streams - 1) // streams
            # While several streams run, --record=inputs looks only at what the launch points to.
            certain = i < cut and (kind == "launch" or streams == 1)
            if certain or kind == "launch":
                check_contents(path, allocation, step, max(k, 0), certain)
    for allocation in buffers:
        need(not sql(path, f"SELECT * FROM unwritten({allocation})"),
             f"buffer {allocation} is said to be unwritten in part")
    need(not sql(path, "SELECT * FROM race"), "a race is named where there is none")
    return cut


def check_report(path, whole):
    code, _, err = run("report", "--json=" + path + ".json", path)
    need(code == 0, "report: " + err.strip())
    need(whole or ("not finished" in err and "s after it was started" in err)
         or "not finished" in err and not sql(path, "SELECT 1 FROM meta WHERE key = 'saved_ms'"),
         "report does not say that the run was not finished, and until when: " + err)
    coverage = json.load(open(path + ".json"))["coverage"]
    rows = int(sql(path, "SELECT count(*) FROM launch")[0][0])
    need(rows <= coverage["launches"] <= LAUNCHES,
         f"{coverage['launches']} launches are said to have been made, the file has {rows}")
    need(coverage["checked_launches"] <= coverage["launches"], "more launches were checked than "
         "made")
    return rows, coverage["checked_launches"]


def check_diff(path, other):
    for pair in ((path, other), (other, path)):
        code, out, err = run("diff", *pair)
        need(code in (0, 2, 3), f"diff ends with {code}: {out}{err}")
        need(code == 2 or "0 differ" in out, f"diff: {out}{err}")
        need(code != 3 or "recording was cut short" in out,
             f"diff does not say where it stopped: {out}{err}")
    return code


def whole_run(mode, streams, known={}):
    key = ("record" if mode in ("record", "record-tools", "limit") else mode, streams)
    if key not in known:
        path = f"{folder}/whole-{key[0]}-{streams}.wg"
        began = time.time()
        need(start(key[0], path, streams).wait(timeout=300) == 0, "a run that nobody killed failed")
        known[key] = (path, time.time() - began)
    return known[key]


def one(i):
    mode, streams = draw.choice(list(OPTIONS)), draw.choice([1, 1, 2, 3])
    victim = draw.choice(["command", "command", "program", "both", "program first"])
    other, seconds = whole_run(mode, streams)
    path, delay = f"{folder}/killed.wg", draw.random() ** 0.7 * seconds * 1.2
    for name in os.listdir(folder):
        if name.startswith("killed"):
            os.unlink(f"{folder}/{name}")
    p = start(mode, path, streams)
    time.sleep(delay)
    programs = children(p.pid)
    if victim != "command":
        for pid in programs:
            end(pid)
    if victim == "program first":
        time.sleep(draw.random() * 0.5)
    if victim != "program":
        end(p.pid)
    p.wait(timeout=300)
    text = f"{i}: {mode}, {streams} streams, {victim} killed after {delay:.2f} s"
    if not os.path.exists(path):
        return text + ": no file yet"
    code, _, err = run("report", path)
    # killed while it was being made
    if code == 125 and ("it has no table" in err or "the command was ended at once" in err):
        return text + ": no tables yet"
    whole = sql(path, "SELECT 1 FROM meta WHERE key = 'complete' AND value = 'yes'") != []
    launches, checked = check_report(path, whole)
    recorded = check_recording(path, mode, streams) if mode in ("record", "record-tools", "limit",
        "inputs") else 0
    code = check_diff(path, other) if mode not in ("check", "inputs") else "-"
    return (f"{text}: {launches} launches, {checked} checked, {recorded} recorded, "
            f"{'finished' if whole else 'cut short'}, diff {code}")


failed = 0
for i in range(count):
    state = draw.getstate()
    try:
        print(one(i), flush=True)
    except Wrong as why:
        failed += 1
        print(f"FAIL kill {i} of seed {seed}: {why}", flush=True)
        os.system(f"mkdir -p '{folder}/kept-{i}' && cp -f '{folder}'/killed* '{folder}/kept-{i}/'")
sys.exit(failed != 0)
