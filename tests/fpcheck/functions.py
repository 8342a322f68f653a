#!/usr/bin/env python3
# functions.py OUTPUT REPORT.json: what functions.cu printed against the findings. Each exception
# must be told once, as NaN or as infinity (or a division by zero), and nothing else. Prints what
# differs.
import collections, json, sys
told = collections.Counter()
for f in json.load(open(sys.argv[2]))["findings"]:
    if f["severity"] == "error":
        told[(f["kernel"], "nan" if f["kind"] == "fp-nan" else "inf")] += f["count"]
rows = 0
for line in open(sys.argv[1]):
    name, *sets = line.split()
    rows += 1
    for kind in "nan", "inf":
        rest = told.pop((name, kind), 0)
        for i, s in enumerate(sets):
            arguments, result = s.split("=")
            want = result.split(":")[1] == kind
            times, rest = (rest, 0) if i + 1 == len(sets) else (rest % 3, rest // 3)
            if times != want:
                print("%s(%s): %s told %d times" % (name, arguments, kind, times))
for name, kind in told:
    print("%s: %s, which is no row" % (name, kind))
if not rows: print("no rows")
