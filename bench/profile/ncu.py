"""ncu.py CSV JSON [--table]: what Nsight Compute counted and what Warpgrind's profile counted, by
kernel: the differences, and how many figures agree; --table: all figures of both. The first says
what the hardware did, the second what the code asks for."""
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
BRANCHES, DIVERGENT = "smsp__sass_branch_targets.sum", \
    "smsp__sass_branch_targets_threads_divergent.sum"


def plain(name):
    return re.sub(r"\(\w+\)|\s", "", re.sub(r"^void ", "", name)).split("(")[0]


def measured_by_ncu(path):
    sums = {}
    with open(path) as f:
        lines = [line for line in f if line.startswith('"')]
    for row in csv.DictReader(lines):
        key = plain(row["Kernel Name"]), row["Metric Name"]
        sums[key] = sums.get(key, 0) + float(row["Metric Value"].replace(",", "") or 0)
    return sums


def counted_by_profile(k, space, what, key):
    rows = [a for a in k["accesses"] if a["space"] == space and a["what"] == what]
    return sum(a["wavefronts"] - a["ideal"] if key == "conflicts" else a[key] for a in rows)


def figures(k, measured):
    """Name of the figure, ours, Nsight Compute's (None: not measured)."""
    name = plain(k["kernel"])
    for metric, space, what, key in PAIRS:
        yield (f"{space} {what} {key}", counted_by_profile(k, space, what, key),
               measured.get((name, metric)))
    yield ("divergent branches", sum(b["parted"] for b in k["branches"]),
           measured.get((name, DIVERGENT)))


def efficiency(divergent, all_branches):
    """Branches that do not divide a warp, in percent."""
    return f"{100 * (1 - divergent / all_branches):.1f}" if all_branches else "-"


def ratio(a, b):
    return f"{a / b:.2f}" if a is not None and b else "-"


def print_table(kernels, measured):
    """One line a kernel: ours / Nsight Compute's."""
    for k in kernels:
        name = plain(k["kernel"])
        f = {what: (own, other) for what, own, other in figures(k, measured)}
        columns = []
        for what in ("load", "store"):
            requests, sectors = f[f"global {what} requests"], f[f"global {what} sectors"]
            if not requests[0] and not requests[1]:
                continue
            columns.append(f"{what} requests {requests[0]:.0f}/{requests[1]} sectors/request "
                           f"{ratio(sectors[0], requests[0])}/{ratio(sectors[1], requests[1])}")
        for what in ("load", "store"):
            waves, conflicts = f[f"shared {what} wavefronts"], f[f"shared {what} conflicts"]
            if not waves[0] and not waves[1]:
                continue
            columns.append(f"shared {what} wavefronts {waves[0]:.0f}/{waves[1]} "
                           f"conflicts {conflicts[0]:.0f}/{conflicts[1]}")
        own, other = f["divergent branches"]
        warps, branches = sum(b["warps"] for b in k["branches"]), measured.get((name, BRANCHES))
        columns.append(f"divergent branches {own:.0f}/{other} of {warps:.0f}/{branches} efficiency "
                       f"{efficiency(own, warps)}/{efficiency(other or 0, branches or 0)}")
        print(f"  {name[:60]}: " + "; ".join(columns))


def main():
    measured = measured_by_ncu(sys.argv[1])
    kernels = json.load(open(sys.argv[2]))["kernels"]
    agree = {}
    if sys.argv[3:] == ["--table"]:
        print_table(kernels, measured)
    for k in kernels:
        for what, own, other in figures(k, measured):
            if other is None:
                continue
            same = agree.setdefault(what, [0, 0])
            same[0] += own == other
            same[1] += 1
            if own != other and sys.argv[3:] != ["--table"]:
                print(f"  {plain(k['kernel'])}: {what}: {own:g}, Nsight Compute {other:g}")
    for what, (same, n) in agree.items():
        print(f"{what}: {same} of {n} kernels agree")


if sys.argv[1:] == ["--metrics"]:
    print(",".join([p[0] for p in PAIRS] + [BRANCHES, DIVERGENT]))
else:
    main()
