#!/usr/bin/env python3
"""compare.py REPORT.json SOURCE: says what is wrong with the findings, by the marks of the source, `// race NAME`, `// same NAME` where all write the same value, `// unacquired NAME`
where a read does not acquire, and `// host WORDS`
for a race of a copy or set, whose report has these words; nothing if nothing is."""
import json
import os
import re
import sys

marks, hosts, kinds = {}, set(), {}
for number, text in enumerate(open(sys.argv[2]), 1):
    h = re.search(r"// host (.+)", text)
    if h:
        hosts.add(h.group(1))
    m = re.search(r"// (race|same|unacquired) (\w+)", text)
    if m:
        marks[number] = m.group(2)
        kinds[m.group(2)] = {"race": "race-(global|shared|host)", "same": "race-same-value", "unacquired": "race-no-acquire"}[m.group(1)]


def line_of(place):
    for p in [place] + place.get("inlined_at", []):
        if os.path.basename(p.get("file") or "") == os.path.basename(sys.argv[2]):
            return p["line"]
    return 0


def may_be(kind, name):
    """Where one thread writes something else, the others still write the same; where some read too early, others read a flag."""
    return re.fullmatch(kinds[name], kind) or (kinds[name].startswith("race-(") and kind in ("race-same-value", "race-no-acquire"))


found = set()
for f in json.load(open(sys.argv[1]))["findings"]:
    words = [h for h in hosts if f["kind"] == "race-host" and not f.get("kernel") and h in json.dumps(f)]
    if words:
        found.update(words)
        continue
    mine, other = line_of(f), line_of(f.get("other", {}))
    name = marks.get(mine)
    if not f["kind"].startswith("race-") or not name or (other and marks.get(other) != name) or not may_be(f["kind"], name):
        print("not expected:", f["kind"], f.get("kernel", ""), "line", mine, "with line", other, f.get("missing", ""))
    elif re.fullmatch(kinds[name], f["kind"]):
        found.add(name)
for name in sorted((set(marks.values()) | hosts) - found):
    print("not found:", name)
