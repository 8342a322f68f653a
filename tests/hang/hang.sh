#!/usr/bin/env bash
# timeout: 600
# Launches that hang, and their twins, which do not. `// expect: hang LINE…` is where the report must point, `// says:` words that must be in it (`// says on cpu:` there).
# HANG_DEVICE=gpu runs them on a GPU (gpu.sh).
set -u
cd "$ROOT" || exit 1
command -v nvcc > /dev/null || { echo "skip: nvcc is not installed"; exit 77; }
command -v python3 > /dev/null || { echo "skip: python3 is not installed"; exit 77; }
device=${HANG_DEVICE:-cpu} jobs=${HANG_JOBS:-2}
. tests/lib/one_bug.sh

run() {                                    # NAME FILE HOW: stop, or be interrupted
  local options=(--device="$device" --tool=synccheck --hang-timeout=2 --hang-action=stop --json="$d/$1.json") before=timeout
  [ "$3" = stop ] || before="timeout -s INT -k 20 8"
  [ "$3" = stop ] && before="timeout $((${SAN:-0} ? 240 : 60))"
  $before "$WARPGRIND" "${options[@]}" "$d/$1" > "$d/$1.out" 2> "$d/$1.err"
  echo $? > "$d/$1.code"
  lines "$d/$1.json" "$2" 2>/dev/null | sort -u > "$d/$1.lines"
}

one() {
  local f=$1 name wants says how=stop
  name=$(basename "$f" .cu)
  wants=$(sed -n 's/^\/\/ expect: //p' "$f")
  says=$(sed -n "s/^\/\/ says on $device: //p" "$f")
  [ -n "$says" ] || says=$(sed -n 's/^\/\/ says: //p' "$f")
  [ "$device" = gpu ] && grep -q '^// gpu: ends only' "$f" && how=interrupt
  if [ $how = interrupt ] && [ -n "${HANG_STANDIN:-}" ]; then echo "skip $name: the stand-in finds a deadlock by itself"; return; fi
  for twin in "" -DTWIN; do
    tests/lib/nvcc -w -lineinfo -arch=compute_75 ${HANG_NVCC:-} $twin -o "$d/$name$twin" "$f" > "$d/$name.nvcc" 2>&1 || { echo "FAIL $name: nvcc"; cat "$d/$name.nvcc"; return; }
    run "$name$twin" "$name.cu" "$([ -z "$twin" ] && echo $how || echo stop)"
  done
  judge "$name" "$wants" "$says"
}

every "$jobs" tests/hang/programs/*.cu
