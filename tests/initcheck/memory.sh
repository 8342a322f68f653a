#!/usr/bin/env bash
# timeout: 600
# tests/initcheck/memory/*.cu: which memory counts as written, and what is said when it leaves for the host. A line that ends in `//! KIND BYTES` is
# one place of the report, in device code `//! KIND`, with `//!cpu` and `//!gpu` on that device only; nothing else may be found. `--tool=none` gives
# the same output. `// says:` is a piece of the report. INITCHECK_DEVICE=gpu: through the driver proxy (tests/gpumode/initcheck.sh).
set -u
cd "$ROOT" || exit 1
device=${INITCHECK_DEVICE:-cpu}
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
for f in tests/initcheck/memory/${INITCHECK_ONLY:-*}.cu; do
  name=$(basename "$f" .cu) d=$TEST_DIR/$(basename "$f" .cu)
  devices=$(sed -n 's#^// devices: ##p' "$f")
  [ -n "$devices" ] && [ "$device" = gpu ] && { echo "skip $name: it wants $devices devices"; continue; }
  mkdir -p "$d"
  # shellcheck disable=SC2046
  tests/lib/nvcc -w -O1 ${INITCHECK_NVCC:-} -Xcompiler -g -lineinfo -Iinclude -gencode arch=compute_75,code=compute_75 -o "$d/program" "$f" $(sed -n 's#^// nvcc: ##p' "$f") > "$d/nvcc" 2>&1 ||
    { cat "$d/nvcc"; echo "FAIL $name: nvcc"; continue; }
  "$WARPGRIND" --device="$device" ${devices:+--devices=$devices} --tool=none -q -- "$d/program" > "$d/none.out" 2> "$d/none.err"; plain=$?
  # shellcheck disable=SC2046
  "$WARPGRIND" --device="$device" ${devices:+--devices=$devices} --tool=initcheck --error-exitcode=0 --json="$d/report.json" $(sed -n 's#^// options: ##p' "$f") -- "$d/program" > "$d/out" 2> "$d/err"; code=$?
  python3 - "$d/report.json" "$f" "$device" > "$d/diff" << 'P'
import json, re, sys
report, source, device = sys.argv[1:]
want = set()
for number, line in enumerate(open(source), 1):
    for on, kind, size in re.findall(r"//!(cpu|gpu|) (\S+) ?(\d*)", line):
        if on in ("", device): want.add((kind, number, int(size or 0)))
got = set()
for f in json.load(open(report))["findings"]:
    line = f["line"] if "thread" in f else next((x["line"] for x in f.get("stack", []) if x.get("file", "").endswith(source.split("/")[-1])), 0)
    got.add((f["kind"], line, 0 if "thread" in f else f.get("size", 0)))
for x in sorted(want - got): print("not found:", *x)
for x in sorted(got - want): print("found:", *x)
P
  if [ -s "$d/diff" ]; then cat "$d/diff"; echo "FAIL $name: other findings"
  elif [ $code != $plain ]; then tail -n 5 "$d/err"; echo "FAIL $name: exit code $code, expected $plain"
  elif ! cmp -s "$d/none.out" "$d/out"; then diff "$d/none.out" "$d/out" | head; echo "FAIL $name: other output"
  elif [ "$name" = marks ] && ! { grep -q "asked: $([ "$device" = cpu ] && echo 2b || echo 3f)" "$d/err" && grep -q 'asked: 7f' "$d/none.err"; }; then grep -h asked "$d/err" "$d/none.err"; echo "FAIL $name: other answers"
  elif says=$(sed -n 's#^// says: ##p' "$f"); [ -n "$says" ] && ! grep -qF -- "$says" "$d/err"; then cat "$d/err"; echo "FAIL $name: the report lacks: $says"
  else echo "ok $name"; fi
done
