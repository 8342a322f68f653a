#!/usr/bin/env bash
# quick: yes
# timeout: 600
# Every program of programs/ has one bug and, built with -DTWIN, none. `// expect: KIND LINE…` says what is found, at the lines of the program
# itself; the twin is silent and prints its results. `// tools:` runs it with others beside synccheck, `// patience:` is its --hang-timeout. SYNCCHECK_DEVICE=gpu runs them on a GPU (gpu.sh), where each must say what the virtual device says.
set -u
cd "$ROOT" || exit 1
command -v nvcc > /dev/null || { echo "skip: nvcc is not installed"; exit 77; }
command -v python3 > /dev/null || { echo "skip: python3 is not installed"; exit 77; }
device=${SYNCCHECK_DEVICE:-cpu} jobs=${SYNCCHECK_JOBS:-2}
. tests/lib/one_bug.sh

run() {                                    # NAME BINARY FILE TOOLS PATIENCE: runs it, its findings into NAME.lines
  timeout -k 10 "${SYNCCHECK_SECONDS:-100}" "$WARPGRIND" --device="$device" --tool="$4" --hang-timeout="$5" --hang-action=stop --json="$d/$1.json" "$2" > "$d/$1.out" 2> "$d/$1.err"
  echo $? > "$d/$1.code"
  lines "$d/$1.json" "$3" hang launch-failure 2>/dev/null | sort -u > "$d/$1.lines"
}

one() {
  local f=$1 name arch flags wants tools patience
  name=$(basename "$f" .cu)
  arch=$(sed -n 's/^\/\/ arch: //p' "$f")
  tools=$(sed -n 's/^\/\/ tools: //p' "$f")
  flags=$(sed -n 's/^\/\/ nvcc: //p' "$f")
  wants=$(sed -n 's/^\/\/ expect: //p' "$f")
  patience=$(sed -n 's/^\/\/ patience: \([0-9]*\).*/\1/p' "$f")
  if [ "$device" = gpu ] && grep -q '^// gpu: no' "$f"; then echo "skip $name: $(sed -n 's/^\/\/ gpu: no, //p' "$f")"; return; fi
  for twin in "" -DTWIN; do
    tests/lib/nvcc -w -lineinfo -arch="${arch:-compute_75}" $flags ${SYNCCHECK_NVCC:-} $twin -o "$d/$name$twin" "$f" > "$d/$name.nvcc" 2>&1 || { echo "FAIL $name: nvcc"; cat "$d/$name.nvcc"; return; }
    run "$name$twin" "$d/$name$twin" "$name.cu" "${tools:-synccheck}" "${patience:-3}"
  done
  judge "$name" "$wants"
}

every "$jobs" tests/synccheck/programs/*.cu
