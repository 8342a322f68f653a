# expected_counts.py PROGRAM-OUTPUT REPORT.json [total]: the lines "count", "only", "launches" and
# "uncovered" against the report. total: the sums over all kernels only; where each kernel is
# compiled for itself, functions that several share count for them.
import json
import sys

report = json.load(open(sys.argv[2]))
found = {}
for row in report.get("counts", []):
    sums = found.setdefault(row["kernel"], {})
    for key, value in row.items():
        if isinstance(value, int) and not key.endswith("line"):
            sums[key] = sums.get(key, 0) + value
total = len(sys.argv) > 3
if total:
    found = {"all": {key: sum(f[key] for f in found.values())
                     for key in next(iter(found.values()))}}
    expected = {}
bad = 0
seen = set()
uncovered = [u["kernel"] for u in report["coverage"]["uncovered"]]


def wrong(text):
    global bad
    print(text)
    bad = 1


for line in open(sys.argv[1]):
    words = line.split()
    if words[:1] in (["count"], ["only"]):
        seen.add(words[1])
        for word in words[2:]:
            key, value = word.split("=")
            if total:
                expected[key] = expected.get(key, 0) + int(value)
            elif found.get(words[1], {}).get(key, 0) != int(value):
                wrong("%s: %s is %s, not %s" % (words[1], key, found.get(words[1], {}).get(key, 0),
                                                value))
    elif words[:1] == ["launches"] and int(words[1]):
        coverage = report["coverage"]
        if coverage["launches"] != int(words[1]):
            wrong("%d launches, not %s" % (coverage["launches"], words[1]))
        if coverage["checked_launches"] != int(words[1]) - sum(u["launches"]
            for u in coverage["uncovered"]):
            wrong("%d of them checked" % coverage["checked_launches"])
    elif words[:1] == ["uncovered"]:
        if words[1] not in uncovered:
            wrong("%s is not named as uncovered" % words[1])
        else:
            uncovered.remove(words[1])
if total:
    seen.add("all")
    for key, value in expected.items():
        if found["all"][key] != value:
            wrong("%s is %s, not %s" % (key, found["all"][key], value))
for kernel, sums in found.items():
    if kernel not in seen and sums["instructions"]:
        wrong("%s was not expected: %s" % (kernel, sums))
if uncovered:
    wrong("uncovered: %s" % uncovered)
if not seen:
    wrong("the program says nothing")
sys.exit(bad)
