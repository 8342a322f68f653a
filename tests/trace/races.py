"""races.py WARPGRIND RUN SOURCE NAME=REASON…: prints what is wrong with the races of a recording.

They are compared with what racecheck found in the same run, and with the annotations of the
program: the groups of
races, and `has=WORDS` for races of a copy or set. What racecheck finds is in the recording, with
the same kind and
lines, but for races that are named as different. What is in the recording is marked, with one group
on both sides."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import annotations  # noqa: E402

warpgrind, run, source, *differ = sys.argv[1:]
differ = {d.split("=")[0] for d in differ}
marks, hosts, kinds = {}, set(), {}
for mark in annotations.marks(source):
    if mark.has:
        hosts.add(mark.has)
    else:
        marks.setdefault(mark.line, set()).add(mark.group)
        kinds[mark.group] = mark


def ask(sql):
    return [r.split("\t") for r in subprocess.run([warpgrind, "sql", run, sql], capture_output=True,
                                                  text=True, check=True).stdout.splitlines()[1:]]


def is_source(path):
    return os.path.basename(path or "") == os.path.basename(source)


def lines_of(place):
    return {p["line"] for p in [place] + place.get("inlined_at", []) if is_source(p.get("file"))}


def weaker(kind):                          # of some threads of a race only this may be seen
    return kind in ("race-same-value", "race-no-acquire")


# --- what the recording says: kind, lines on both sides, calls of copies and sets ---
lines, recorded = {}, []
for site, line, file in ask("select site, line, file from place"):
    if is_source(file):
        lines.setdefault(site, set()).add(int(line))
for kind, *sides in ask("select r.kind, first_site, a.call, first_kind, second_site, b.call, "
                        "second_kind from race r join step a on a.id = first_step join step b on "
                        "b.id = second_step"):
    recorded.append((kind, [(lines.get(site, set()), call if what in ("copy", "set") else "")
                            for site, call, what in (sides[:3], sides[3:])]))


def names_of(sides):
    return [n for n in kinds if all(call or any(n in marks.get(l, ()) for l in at) for at,
                                    call in sides)]


found = set()
for kind, sides in recorded:
    calls = {call for _, call in sides if call}
    words = {h for h in hosts if any(h.startswith(c) for c in calls)}
    names = [n for n in names_of(sides) if kinds[n].matches_kind(kind) or (weaker(kind)
        and kinds[n].kind == "race")]
    found.update(words)
    if not calls:
        found.update(n for n in names if kinds[n].matches_kind(kind))
    if not (words if calls else names):
        print("only in the recording:", kind, [(sorted(at), call) for at, call in sides])
for name in sorted((set(kinds) | hosts) - found - differ):
    print("not in the recording:", name)
for name in sorted(found & differ):
    print("listed as different, and is not:", name)

# --- what racecheck says ---
report = subprocess.run([warpgrind, "report", "-q", "--json=/dev/stdout", run], capture_output=True,
                        text=True).stdout
ours, others = 0, 0
for f in json.loads(report)["findings"]:
    if not f["kind"].startswith("race-"):
        continue
    at, other = lines_of(f), lines_of(f.get("other", {}))
    if any(n in differ for l in at for n in marks.get(l, ())):
        continue
    ours += 1
    if f.get("kernel"):
        fits = [k for k, ((p, pc), (q, qc)) in recorded if not pc and not qc
                and ((at & p and (not other or other & q)) or (at & q and (not other or other & p)))
                and (k == f["kind"] or weaker(f["kind"]))]
    else:
        fits = [k for k, sides in recorded if k == f["kind"] and any(call and call in json.dumps(f)
            for _, call in sides)]
    if not fits:
        print("only racecheck:", f["kind"], f.get("kernel", ""), sorted(at), sorted(other))
