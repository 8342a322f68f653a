"""Compares what profile counted with what exact.cu computed on the host."""
import json
import re
import sys

name, expected, report = sys.argv[1:4]
wanted = {}
for line in open(expected):
    kernel, requests, units = line.split()
    wanted[kernel] = (int(requests), int(units))
spaces = {"load": ("global", "load", "sectors"), "store": ("global", "store", "sectors"),
          "loop": ("global", "load", "sectors"), "before": ("global", "load", "sectors"),
          "shared": ("shared", "load", "wavefronts")}
got = {}
for k in json.load(open(report))["kernels"]:
    found = re.search(r"(load|store|loop|before|shared)<(\d+), (\d+)>", k["kernel"])
    if not found:
        continue
    space, what, unit = spaces[found.group(1)]
    rows = [a for a in k["accesses"] if a["space"] == space and a["what"] == what]
    got[f"{found.group(1)}<{found.group(2)},{found.group(3)}>"] = (
        sum(a["requests"] for a in rows), sum(a[unit] for a in rows))
bad = [f"{k}: {got.get(k)}, expected {v}" for k, v in sorted(wanted.items()) if got.get(k) != v]
print("\n".join(bad[:12]))
print(f"FAIL {name}: {len(bad)} of {len(wanted)} kernels" if bad
      else f"ok {name}: {len(wanted)} kernels")
sys.exit(bool(bad))
