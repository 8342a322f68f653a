#!/usr/bin/env bash
# Executions of blocks are counted in the lanes of a warp on a GPU, and those of short sides with
# their branch: the counts of every line are those of the virtual device. Short sides divide no
# warp, and are no branches of profile's.
set -u
. tests/lib/check.sh
. tests/gpumode/lib.sh
command -v nvcc > /dev/null || { echo "skip sides: nvcc is not installed"; exit 77; }
shared_runtime
d=$TEST_DIR
tests/lib/nvcc -w -O2 -lineinfo -cudart=shared -gencode "arch=compute_90,code=[compute_90,sm_90]" \
  -o "$d/sides" tests/gpumode/sides/sides.cu || exit 1
for tool in count profile; do
  for device in cpu gpu; do
    timeout 120 "$WARPGRIND" --device=$device --tool=$tool --profile-exact \
      --json="$d/$tool.$device" --log-file="$d/log" -- "$d/sides" > "$d/out" 2>&1 ||
      { cat "$d/out"; tail -n 3 "$d/log"; }
  done
  check "$tool" python3 - "$d/$tool.cpu" "$d/$tool.gpu" <<'END'
import json, sys
cpu, gpu = (json.load(open(p)) for p in sys.argv[1:])
assert len(cpu["counts"]) > 10
assert cpu["counts"] == gpu["counts"], [p for p in zip(cpu["counts"], gpu["counts"])
                                       if p[0] != p[1]]
END
done
check branches python3 - "$d/profile.cpu" "$d/profile.gpu" tests/gpumode/sides/sides.cu <<'END'
import json, sys
lines = open(sys.argv[3]).read().split("\n")
for path in sys.argv[1:3]:
    for k in json.load(open(path))["kernels"]:
        said = {lines[b["line"] - 1].split("(")[0].strip() for b in k["branches"]}
        assert said <= {"if", "for"}, said
END
# Nothing is woven into a side: the branch is right before it.
"$WARPGRIND" ptx --tool=count "$d/sides" > "$d/ptx" 2> /dev/null
grep -v '^[[:space:]]*\.loc' "$d/ptx" | grep -B1 'xor.b32 %r[0-9]*, %r[0-9]*, 5' > "$d/before"
check sides_stay [ "$(grep -c 'xor' "$d/before")" = "$(grep -c 'bra' "$d/before")" ]
check sides_are_there grep -q xor "$d/before"
