#!/usr/bin/env python3
"""compare.py REPORT.json SOURCE: says what is wrong with the findings, by the marks of the source, `// race NAME`, `// same NAME` where all write the same value, and `// host WORDS`
for a race of a copy or set, whose report has these words; nothing if nothing is."""
import json
import os
import re
import sys

marks, same, hosts = {}, set(), set()
for number, text in enumerate(open(sys.argv[2]), 1):
    h = re.search(r"// host (.+)", text)
    if h:
        hosts.add(h.group(1))
    m = re.search(r"// (race|same) (\w+)", text)
    if m:
        marks[number] = m.group(2)
        if m.group(1) == "same":
            same.add(m.group(2))


def line_of(place):
    for p in [place] + place.get("inlined_at", []):
        if os.path.basename(p.get("file") or "") == os.path.basename(sys.argv[2]):
            return p["line"]
    return 0


found = set()
for f in json.load(open(sys.argv[1]))["findings"]:
    words = [h for h in hosts if f["kind"] == "race-host" and not f.get("kernel") and h in json.dumps(f)]
    if words:
        found.update(words)
        continue
    mine, other = line_of(f), line_of(f.get("other", {}))
    name = marks.get(mine)
    if not f["kind"].startswith("race-") or not name or (other and marks.get(other) != name) or (name in same and f["kind"] != "race-same-value"):
        print("not expected:", f["kind"], f.get("kernel", ""), "line", mine, "with line", other, f.get("missing", ""))
    elif name in same or f["kind"] != "race-same-value":       # where one thread writes something else, the others still write the same
        found.add(name)
for name in sorted((set(marks.values()) | hosts) - found):
    print("not found:", name)
