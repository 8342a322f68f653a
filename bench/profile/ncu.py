"""ncu.py CSV JSON: what Nsight Compute counted and what Warpgrind's profile counted, by kernel: the
differences, and how many figures agree. The first says what the hardware did, the second what the
code asks for."""
import csv
import json
import re
import sys

PAIRS = [  # Nsight Compute's metric; space, what, key of profile's JSON
    ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "global", "load", "requests"),
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "global", "load", "sectors"),
    ("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "global", "store", "requests"),
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "global", "store", "sectors"),
    ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "shared", "load", "wavefronts"),
    ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "shared", "store", "wavefronts"),
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "shared", "load", "conflicts"),
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "shared", "store", "conflicts"),
]
BRANCHES = "smsp__sass_branch_targets_threads_divergent.sum"
if sys.argv[1:] == ["--metrics"]:
    print(",".join([p[0] for p in PAIRS] + [BRANCHES]))
    sys.exit()


def plain(name):
    return re.sub(r"\(\w+\)|\s", "", re.sub(r"^void ", "", name)).split("(")[0]


measured = {}
with open(sys.argv[1]) as f:
    lines = [line for line in f if line.startswith('"')]
for row in csv.DictReader(lines):
    key = plain(row["Kernel Name"]), row["Metric Name"]
    measured[key] = measured.get(key, 0) + float(row["Metric Value"].replace(",", "") or 0)
agree = {}
for k in json.load(open(sys.argv[2]))["kernels"]:
    name = plain(k["kernel"])
    for metric, space, what, key in PAIRS:
        if (name, metric) not in measured:
            continue
        rows = [a for a in k["accesses"] if a["space"] == space and a["what"] == what]
        own = sum(a["wavefronts"] - a["ideal"] if key == "conflicts" else a[key] for a in rows)
        other = measured[name, metric]
        same = agree.setdefault(f"{space} {what} {key}", [0, 0])
        same[0] += own == other
        same[1] += 1
        if own != other:
            print(f"  {name}: {space} {what} {key}: {own:g}, Nsight Compute {other:g}")
    if (name, BRANCHES) in measured:
        own, other = sum(b["parted"] for b in k["branches"]), measured[name, BRANCHES]
        same = agree.setdefault("divergent branches", [0, 0])
        same[0] += own == other
        same[1] += 1
        if own != other:
            print(f"  {name}: divergent branches: {own:g}, Nsight Compute {other:g}")
for what, (same, n) in agree.items():
    print(f"{what}: {same} of {n} kernels agree")
