# order_rules.py make PTX: kernels k0, k1, …, two for each line of src/probe/order_rules.def and
# each modifier of accesses that orders something: the instruction as it is, and under a guard that
# lets all threads pass. Each kernel's comment says whether it has a race. order_rules.py compare
# PTX WARPGRIND RUN: what racecheck found in the run, and what is in its recording, is what the
# comments say.
import json, re, subprocess, sys

# Thread 0 does `first` and thread 32, of another warp, does `second`; "all" is what every thread
# does in between.
WRITE, READ = "st.shared.u32 [word], 1;", "ld.shared.u32 r, [word];"
FAR_WRITE, FAR_READ = "st.global.u32 [data], 1;", "ld.global.u32 r, [data];"
COPY = "cp.async.ca.shared.global [word], [data], 4;"
SPIN = "SPIN: {g}ld.{how}.u32 r, [{at}]; setp.eq.u32 q, r, 0; @q bra SPIN;"


def flag(store, load, at="flags", between="", behind=""):
    return (between + " {g}st." + store + ".u32 [" + at + "], 1;", SPIN.replace("{how}",
        load).replace("{at}", at) + " " + behind)


MBARRIER = ("{g}mbarrier.arrive.shared.b64 _, [barrier];",
            "WAIT: {g}mbarrier.test_wait.parity.shared.b64 q, [barrier], 0; @!q bra WAIT;")


CASES = [  # name, first, all, second, race
    ("nothing", WRITE, "", READ, True),
    ("bar.sync", WRITE, "{g}bar.sync 0;", READ, False),
    ("barrier.sync", WRITE, "{g}barrier.sync 0;", READ, False),
    ("bar.sync of 64", WRITE, "{g}bar.sync 1, 64;", READ, False),
    ("bar.red", WRITE, "{g}bar.red.popc.u32 r, 0, p;", READ, False),
    ("bar.red of 64", WRITE, "{g}bar.red.popc.u32 r, 1, 64, p;", READ, False),
    ("bar.warp.sync", WRITE, "{g}bar.warp.sync 0xffffffff;", READ, True),
    ("shfl", WRITE, "{g}shfl.sync.idx.b32 r, r, 0, 31, 0xffffffff;", READ, True),
    ("membar", WRITE, "{g}membar.gl;", READ, True),
    ("copy, no wait", COPY, "bar.sync 0;", READ, True),
    ("copy, wait_all", COPY, "{g}cp.async.wait_all; bar.sync 0;", READ, False),
    ("copy, wait_group", COPY, "{g}cp.async.commit_group; {g}cp.async.wait_group 0; bar.sync 0;",
     READ, False),
    ("copy, a group left", COPY, "{g}cp.async.commit_group; {g}cp.async.wait_group 1; bar.sync 0;",
     READ, True),
    ("volatile, no fence", WRITE + flag("volatile.global", "volatile.global")[0], "",
     flag("volatile.global", "volatile.global")[1] + READ, True),
    ("volatile, fences", WRITE + flag("volatile.global", "", between="{g}membar.gl;")[0], "",
     flag("", "volatile.global", behind="{g}membar.gl;")[1] + READ, False),
    ("volatile, fence.cta", WRITE + flag("volatile.global", "", between="{g}fence.acq_rel.cta;")[0],
     "", flag("", "volatile.global", behind="{g}fence.acq_rel.cta;")[1] + READ, False),
    ("release, acquire", WRITE + flag("release.gpu.global", "")[0], "",
     flag("", "acquire.gpu.global")[1] + READ, False),
    ("mbarrier", WRITE + MBARRIER[0], "", MBARRIER[1] + READ, False),
    ("mbarrier, no wait", WRITE + MBARRIER[0], "", READ, True),
    ("release.cta", WRITE + flag("release.cta.global", "")[0], "",
     flag("", "acquire.cta.global")[1] + READ, False),
]
FAR = [  # the same of two blocks
    ("blocks", FAR_WRITE, FAR_READ, True),
    ("blocks, release", FAR_WRITE + flag("release.gpu.global", "")[0],
     flag("", "acquire.gpu.global")[1] + FAR_READ, False),
    ("blocks, fences", FAR_WRITE + flag("relaxed.gpu.global", "", between="{g}fence.acq_rel.gpu;")[
        0], flag("", "relaxed.gpu.global", behind="{g}fence.acq_rel.gpu;")[1] + FAR_READ, False),
    ("blocks, release.cta", FAR_WRITE + flag("release.cta.global", "")[0],
     flag("", "acquire.cta.global")[1] + FAR_READ, True),
]

HEAD = """.visible .entry k%d(.param .u64 pdata, .param .u64 pflags, .param .u32 pn) { // %s: %s
.reg .b64 data, flags; .reg .b32 r, tid, block; .reg .pred p, q, first, second; .shared .align 8 .b8
memory[64]; .reg .b32 word, barrier;
mov.u32 word, memory; add.u32 barrier, word, 16; mov.u32 tid, %%tid.x; mov.u32 block, %%ctaid.x;
mov.u32 r, 0; setp.lt.u32 p, tid, 1024;
ld.param.u64 data, [pdata]; ld.param.u64 flags, [pflags]; mad.wide.u32 flags, block, %d, flags;
setp.eq.u32 first, tid, 0; setp.eq.u32 second, tid, 32;
"""


def kernel(n, name, first, middle, second, race, guard, far=False):
    text = HEAD % (n, name + (", guarded" if guard else ""), "race" if race else "no race", 0 if far
                   else 8)
    if name.startswith("mbarrier"):
        text += "@first mbarrier.init.shared.b64 [barrier], 1; bar.sync 0;\n"
    if far:
        text += ("setp.eq.and.u32 first, block, 0, first; "
                 "setp.eq.and.u32 second, block, 1, second;\n")
    text += "@!first bra A;\n%s\nA:\n%s\n@!second bra B;\n%s\nB:\nret; }\n" % (first, middle,
        second)
    return text.replace("{g}", "@p " if guard else "")


def make(path):
    out, n = ".version 8.0\n.target sm_80\n.address_size 64\n", 0
    for guard in (False, True):
        for name, first, middle, second, race in CASES:
            out, n = out + kernel(n, name, first, middle, second, race, guard), n + 1
        for name, first, second, race in FAR:
            out, n = out + kernel(n, name, first, "", second, race, guard, far=True), n + 1
    open(path, "w").write(out.replace("; ", ";\n"))


def compare(path, warpgrind, run):
    want = {k: (name, race == "race") for k, name, race in re.findall(r"entry (k\d+)\(.*// (.*): "
        r"(race|no race)$", open(path).read(), re.M)}
    live = {f["kernel"] for f in json.loads(subprocess.run([warpgrind, "report", "-q",
        "--json=/dev/stdout", run], capture_output=True, text=True).stdout)["findings"]
        if f["kind"].startswith("race-")}
    sql = ("select distinct k.name from race r join launch l on l.id = r.launch_id join kernel k "
           "on k.id = l.kernel")
    recorded = set(subprocess.run([warpgrind, "sql", run, sql], capture_output=True, text=True,
                                  check=True).stdout.splitlines()[1:])
    for k, (name, race) in want.items():
        for who, found in (("racecheck", live), ("the recording", recorded)):
            if (k in found) != race:
                print("%s (%s): %s %s" % (name, k, who, "finds no race" if race
                                          else "finds a race"))
    print(len(want), "kernels")


{"make": make, "compare": compare}[sys.argv[1]](*sys.argv[2:])
