"""Compares a sampled run with an exact one: sampled.py EXACT SAMPLED, both JSON. --exact: the
second is no sample."""
import json
import sys


def accesses(path):
    found = {}
    for k in json.load(open(path))["kernels"]:
        for a in k["accesses"]:
            found[k["kernel"].partition("(")[0], a["ptx_line"], a["space"]] = a
    return found


def units(a):
    return a.get("sectors", a.get("wavefronts", 0))


def complain(why):
    bad.append(why)
    print(why)


exact, sampled, bad = accesses(sys.argv[1]), accesses(sys.argv[2]), []
if exact.keys() != sampled.keys():
    complain("other accesses: %s" % (exact.keys() ^ sampled.keys()))
for key in exact.keys() & sampled.keys():
    e, s = exact[key], sampled[key]
    if "looked_at" in e:
        complain("%s: the exact run has estimates" % (key,))
    if "looked_at" not in s:
        if (e["requests"], units(e)) != (s["requests"], units(s)):
            complain("%s: %s, exact %s" % (key, s, e))
        continue
    within = 0.2 if key[0] == "guarded" else 0
    if abs(s["requests"] - e["requests"]) > within * e["requests"]:
        complain("%s: %d requests, there are %d" % (key, s["requests"], e["requests"]))
    if not 256 <= s["looked_at"] < e["requests"] / 4:
        complain("%s: %d of %d were looked at" % (key, s["looked_at"], e["requests"]))
    each = [units(a) / a["requests"] for a in (e, s)]
    if abs(each[1] - each[0]) > 0.25 * each[0]:
        complain("%s: %.2f each, exact %.2f" % (key, each[1], each[0]))
for kernel in ("often", "guarded", "half") if sys.argv[3:] != ["--exact"] else ():
    if not any("looked_at" in a for k, a in sampled.items() if k[0] == kernel):
        complain("nothing of %s was sampled" % kernel)
sys.exit(bool(bad))
