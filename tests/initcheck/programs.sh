#!/usr/bin/env bash
# quick: yes
# timeout: 600
# tests/initcheck/programs/*.cu: a line that ends in `// use: …` is one place of the report (`// use 3: …`: as many), nothing else is. A program without one is silent
# and prints what it prints without the tool. `device: cpu`: only the virtual device is as exact. With memcheck beside it the findings are the same,
# and those of `// left out: KIND`: there memcheck leaves the access out. `// says: TEXT`: so does the report. `// read:`: a line that the report names as the origin of a finding; the others are none, if there is one.
set -u
cd "$ROOT" || exit 1
device=${INITCHECK_DEVICE:-cpu}
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
for f in tests/initcheck/programs/${INITCHECK_ONLY:-*}.cu; do
  case $device:$(sed -n 's#^// device: ##p' "$f") in gpu:cpu) continue ;; esac
  name=$(basename "$f" .cu) d=$TEST_DIR/$name
  mkdir -p "$d"
  arch=$(sed -n 's#^// arch: ##p' "$f"); arch=${arch:-compute_75}
  tests/lib/nvcc -w -g -O3 -lineinfo ${INITCHECK_NVCC:-} -gencode arch=$arch,code=$arch -o "$d/program" "$f" > "$d/nvcc" 2>&1 || { cat "$d/nvcc"; echo "FAIL $name: nvcc"; continue; }
  "$WARPGRIND" --device="$device" --tool=none -q -- "$d/program" > "$d/none.out" 2> "$d/none.err"
  for tool in initcheck memcheck,initcheck; do
    awk '/\/\/ use/ { n = $0 ~ /\/\/ use [0-9]+:/ ? substr($0, index($0, "// use") + 6) + 0 : 1; while (n-- > 0) print FNR " uninit-use" }' "$f" > "$d/want"
    [ $tool = initcheck ] || sed -n '\#// left out:#{=;s#.*// left out: ##p}' "$f" | paste -d ' ' - - >> "$d/want"
    sort -n -o "$d/want" "$d/want"
    "$WARPGRIND" --device="$device" --tool=$tool --json="$d/report.json" -- "$d/program" > "$d/out" 2> "$d/err"; code=$?
    python3 - "$d/report.json" "$f" > "$d/got" << 'P'
import json, os, sys
for f in json.load(open(sys.argv[1]))["findings"]:
    device = [f] + f.get("inlined_at", [])
    places = device + f.get("stack", []) if "thread" in f else f.get("stack", []) + device
    line = next((p["line"] for p in places if os.path.basename(p.get("file") or "") == os.path.basename(sys.argv[2])), 0)
    print(line, f["kind"])
P
    if grep -q '// read:' "$f"; then
      grep -n '// read:' "$f" | sed 's/:.*/ origin/' >> "$d/want"; sort -n -o "$d/want" "$d/want"
      sed -n "s#.*  read .*at .*$name.cu:\([0-9]*\) .*#\1 origin#p" "$d/err" >> "$d/got"
    fi
    sort -n -o "$d/got" "$d/got"
    want=0; [ -s "$d/want" ] && want=99
    if ! diff "$d/want" "$d/got" > "$d/diff"; then cat "$d/diff"; tail -n 40 "$d/err"; echo "FAIL $name $tool: other findings"
    elif sed -n 's#^// says: ##p' "$f" | while read -r text; do grep -qF "$text" "$d/err" || echo "FAIL $name $tool: the report does not say \"$text\""; done | grep .; then :
    elif [ $code != $want ]; then tail -n 5 "$d/err"; echo "FAIL $name $tool: exit code $code, expected $want"
    elif ! cmp -s "$d/none.out" "$d/out"; then diff "$d/none.out" "$d/out" | head; echo "FAIL $name $tool: other output"
    else echo "ok $name $tool"; fi
  done
done
