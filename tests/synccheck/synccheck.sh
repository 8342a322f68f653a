#!/usr/bin/env bash
# timeout: 600
# Every program of programs/ has one bug and, built with -DTWIN, none. `// expect: KIND LINE…` says what is found, at the lines of the program
# itself; the twin is silent and prints its results. SYNCCHECK_DEVICE=gpu runs them on a GPU (gpu.sh), where each must say what the virtual device says.
set -u
cd "$ROOT" || exit 1
command -v nvcc > /dev/null || { echo "skip: nvcc is not installed"; exit 77; }
command -v python3 > /dev/null || { echo "skip: python3 is not installed"; exit 77; }
device=${SYNCCHECK_DEVICE:-cpu} jobs=${SYNCCHECK_JOBS:-2}
d=$TEST_DIR

# lines JSON FILE: "kind line" of each finding, the line being the innermost of this file; hangs are another test's matter
lines() {
  python3 - "$@" << 'P'
import json, sys
for f in json.load(open(sys.argv[1]))["findings"]:
    if f["kind"] in ("hang", "launch-failure"): continue
    places = [f] + f.get("inlined_at", [])
    mine = [p.get("line") for p in places if (p.get("file") or "").endswith(sys.argv[2])]
    print(f["kind"], mine[0] if mine else "?")
P
}

run() {                                    # NAME BINARY: runs it, its findings into NAME.lines
  timeout -k 10 "${SYNCCHECK_SECONDS:-40}" "$WARPGRIND" --device="$device" --tool=synccheck --hang-timeout=3 --hang-action=stop --json="$d/$1.json" "$2" > "$d/$1.out" 2> "$d/$1.err"
  echo $? > "$d/$1.code"
  lines "$d/$1.json" "$3" 2>/dev/null | sort -u > "$d/$1.lines"
}

one() {
  local f=$1 name arch flags wants
  name=$(basename "$f" .cu)
  arch=$(sed -n 's/^\/\/ arch: //p' "$f")
  flags=$(sed -n 's/^\/\/ nvcc: //p' "$f")
  wants=$(sed -n 's/^\/\/ expect: //p' "$f")
  if [ "$device" = gpu ] && grep -q '^// gpu: no' "$f"; then echo "skip $name: $(sed -n 's/^\/\/ gpu: no, //p' "$f")"; return; fi
  for twin in "" -DTWIN; do
    nvcc -w -lineinfo -arch="${arch:-compute_75}" $flags ${SYNCCHECK_NVCC:-} $twin -o "$d/$name$twin" "$f" > "$d/$name.nvcc" 2>&1 || { echo "FAIL $name: nvcc"; cat "$d/$name.nvcc"; return; }
    run "$name$twin" "$d/$name$twin" "$name.cu"
  done
  local kind=${wants%% *} line ok=
  if [ "$wants" = nothing ]; then
    [ -s "$d/$name.lines" ] || [ "$(cat "$d/$name.code")" != 0 ] || ok=1
  else                                     # one of the lines, and nothing else
    for line in ${wants#* }; do [ "$(cat "$d/$name.lines")" = "$kind $line" ] && ok=1; done
  fi
  [ -n "$ok" ] && echo "ok $name" || { echo "FAIL $name: wants $wants, has: $(tr '\n' ';' < "$d/$name.lines")"; tail -n 20 "$d/$name.err"; }
  if [ ! -s "$d/$name-DTWIN.lines" ] && [ "$(cat "$d/$name-DTWIN.code")" = 0 ]; then echo "ok ${name}_twin"
  else echo "FAIL ${name}_twin: $(tr '\n' ';' < "$d/$name-DTWIN.lines")"; tail -n 20 "$d/$name-DTWIN.err"; fi
}

running=0
for f in tests/synccheck/programs/*.cu; do
  one "$f" > "$d/$(basename "$f").result" 2>&1 &
  running=$((running + 1))
  [ $((running % jobs)) = 0 ] && wait
done
wait
cat "$d"/*.result
