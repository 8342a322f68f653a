#!/usr/bin/env bash
# Every example with a report, and its correct twin, on the real GPU and on the virtual one: kinds
# and lines of errors and warnings are the same. Counts may differ: what comes of a value that was
# never written depends on what lies in memory.
set -u
cd "$ROOT" || exit 1
found() {
  python3 - "$1" << 'P'
import json, os, sys
for f in json.load(open(sys.argv[1]))["findings"]:
    if f.get("severity") != "note":
        print(f["kind"], os.path.basename(f.get("file") or ""), f.get("line", 0))
P
}
one() { # name, options
  local d=$TEST_DIR/$1 device
  mkdir -p "$d"
  nvcc -w -g -O3 -lineinfo -gencode 'arch=compute_75,code=compute_75' -o "$d/program" \
    "examples/${1%_ok}/$1.cu" > "$d/nvcc" 2>&1 || { cat "$d/nvcc"; echo "FAIL $1: nvcc"; return; }
  for device in cpu gpu; do
    timeout 60 "$WARPGRIND" --device=$device $2 --json="$d/$device.json" \
      --log-file="$d/$device.log" -- "$d/program" > "$d/$device.out" 2>&1
      echo "exit code $?" >> "$d/$device.out"
    found "$d/$device.json" | sort > "$d/$device"
  done
  if ! diff "$d/cpu" "$d/gpu"; then tail -n 30 "$d/gpu.log"; echo "FAIL $1: other findings"
  elif ! diff <(tail -n 1 "$d/cpu.out") <(tail -n 1 "$d/gpu.out"); then tail -n 5 "$d/gpu.out"
    echo "FAIL $1: another exit code"
  elif [[ $1 != *_ok && ! -s $d/gpu ]]; then echo "FAIL $1: nothing found"
  elif [[ $1 == *_ok && -s $d/gpu ]]; then echo "FAIL $1: a finding in a correct program"
  else echo "ok $1"; fi
}
for report in examples/*/report.txt; do
  name=$(basename "$(dirname "$report")") options=$(sed -n '1s/.*--device=cpu \(.*\) [^ ]*$/\1/p' \
    "$report")
  for program in "$name" "${name}_ok"; do { text=$(one "$program" "$options" 2>&1)
    printf '%s\n' "$text"; } & done
done
wait
