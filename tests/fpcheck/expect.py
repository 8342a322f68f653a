#!/usr/bin/env python3
# expect.py SOURCE REPORT.json [KIND]: the findings must be those of the //= comments of the source, but none of KIND, and nothing else.
import collections, json, sys
source, report = sys.argv[1:3]
without = sys.argv[3:]
want = {}
for number, line in enumerate(open(source), 1):
    words = line.split("//=")[1].split() if "//=" in line else []
    for i in range(0, len(words) - 2, 3):
        if words[i] not in without:
            want[(number, words[i], words[i + 1])] = int(words[i + 2])
got = collections.Counter()
for f in json.load(open(report))["findings"]:
    chain = [(f.get("file"), f.get("line"))] + [(p.get("file"), p.get("line")) for p in f.get("inlined_at", [])]
    own = [l for file, l in chain if file and file.split("/")[-1] == source.split("/")[-1]]
    got[(own[-1] if own else f.get("line", 0), f["kind"], f.get("format", ""))] += f["count"]
bad = 0
for key in sorted(set(want) | set(got)):
    if want.get(key, 0) != got.get(key, 0):
        bad = 1
        print("line %d: %s %s: %d expected, %d found" % (key + (want.get(key, 0), got.get(key, 0))))
sys.exit(bad)
