#!/usr/bin/env bash
# quick: yes
# timeout: 600
# tests/memcheck/programs/*.cu: what memcheck must find and what it must not. Each line `finds: KIND LINE COUNT` of a program is one place
# of its report; a program without such a line must be silent. `says: TEXT`: a piece of the report. `device: cpu`: only the virtual device says where. Each of them ends as it would without the tool.
set -u
cd "$ROOT" || exit 1
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
device=${MEMCHECK_DEVICE:-cpu}
for f in tests/memcheck/programs/${MEMCHECK_ONLY:-*}.cu; do
  case $device:$(sed -n 's#^// device: ##p' "$f") in gpu:cpu) continue ;; esac
  name=$(basename "$f" .cu) d=$TEST_DIR/$name
  mkdir -p "$d"
  arch=$(sed -n 's#^// arch: ##p' "$f"); arch=${arch:-compute_75}
  # shellcheck disable=SC2046
  tests/lib/nvcc -w -O3 -lineinfo ${MEMCHECK_NVCC:-} -gencode arch=$arch,code=$arch $(sed -n 's#^// nvcc: ##p' "$f") -o "$d/program" "$f" > "$d/nvcc" 2>&1 ||
    { cat "$d/nvcc"; echo "FAIL $name: nvcc"; continue; }
  "$WARPGRIND" --device=$device --tool=none -q -- "$d/program" > "$d/none.out" 2> "$d/none.err"; plain=$?
  "$WARPGRIND" --device=$device --tool=${MEMCHECK_TOOL:-memcheck} --json="$d/report.json" -- "$d/program" > "$d/out" 2> "$d/err"; code=$?
  sed -n 's#^// finds: ##p' "$f" | sort > "$d/want"
  python3 - "$d/report.json" "$d/want" > "$d/got" << 'P'
import json, sys
want = {tuple(l.split()[:2]) for l in open(sys.argv[2])}
for f in json.load(open(sys.argv[1]))["findings"]:
    if f["kind"].startswith("uninit-"): continue
    lines = [str(p.get("line", 0)) for p in [f] + f.get("inlined_at", [])][::-1]         # the outermost that is wanted: initcheck beside it inlines calls
    print(f["kind"], next((l for l in lines if (f["kind"], l) in want), lines[0]), f["count"])
P
  grep -q '"kind": *"uninit-use"' "$d/report.json" && plain=99         # with initcheck beside it
  sort -o "$d/got" "$d/got"
  want=$plain; [ -s "$d/want" ] && want=99
  if ! diff "$d/want" "$d/got" > "$d/diff"; then cat "$d/diff"; tail -n 20 "$d/err"; echo "FAIL $name: other findings"
  elif ! sed -n 's#^// says: ##p' "$f" | while read -r text; do grep -qF "$text" "$d/err" || exit 1; done; then cat "$d/err"; echo "FAIL $name: the report lacks something"
  elif [ $code != $want ]; then tail -n 5 "$d/err"; echo "FAIL $name: exit code $code, expected $want"
  elif [ ! -s "$d/want" ] && ! cmp -s "$d/none.out" "$d/out"; then diff "$d/none.out" "$d/out" | head; echo "FAIL $name: other output"
  else echo "ok $name"; fi
done
