"""estimates.py NAME EXACT SAMPLED: how far the estimates of a sampled run are from an exact one,
both JSON of profile, as a row of a table. Sectors and wavefronts of all lines of a kernel together,
and of each line that has a twentieth of them or more."""
import json
import sys

LARGE = 0.05


def lines(path):
    """Sectors or wavefronts by kernel, space, line and kind; how many requests were looked at."""
    found = {}
    for k in json.load(open(path))["kernels"]:
        for a in k["accesses"]:
            key = k["kernel"], a["space"], a.get("file"), a["line"], a["what"]
            row = found.setdefault(key, [0, 0, 0])
            row[0] += a.get("sectors", a.get("wavefronts", a.get("words", 0)))
            row[1] += a["requests"]
            row[2] += a.get("looked_at", a["requests"])
    return found


def rules(path):
    return {(a["rule"], a.get("file"), a.get("line")) for a in json.load(open(path))["advice"]}


def deviation(e, s):
    return abs(s - e) / e if e else 0


name, exact, sampled = sys.argv[1], lines(sys.argv[2]), lines(sys.argv[3])
sums, worst, estimated, all_requests, looked = {}, (0, ""), 0, 0, 0
for key, (units, requests, _) in exact.items():
    total = sums.setdefault(key[:2], [0, 0])
    total[0] += units
    total[1] += sampled.get(key, [0])[0]
for key, (units, requests, _) in exact.items():
    s = sampled.get(key, [0, 0, 0])
    all_requests += s[1]
    looked += s[2]
    if s[2] == s[1]:
        continue
    estimated += 1
    if units >= LARGE * sums[key[:2]][0]:
        worst = max(worst, (deviation(units, s[0]), f"line {key[3]}"))
whole = max(deviation(*t) for t in sums.values()) if sums else 0
only = rules(sys.argv[2]) ^ rules(sys.argv[3])
print(f"| {name} | {estimated} of {len(exact)} | {looked / max(all_requests, 1):.3f} "
      f"| {100 * whole:.1f} % | {100 * worst[0]:.1f} %{' (' + worst[1] + ')' if worst[1] else ''} "
      f"| {'same' if not only else ', '.join(sorted('%s:%s' % (r, l) for r, _, l in only))} |")
