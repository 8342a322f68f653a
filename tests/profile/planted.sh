#!/usr/bin/env bash
# Each rule of profile fires on a program with that mistake, at its line, and says nothing about its
# better twin (NAME_ok.cu).
# timeout: 600
set -u
cd "$ROOT" || exit 1
. tests/lib/programs.sh
command -v nvcc > /dev/null || { echo "skip planted: nvcc is not installed"; exit 77; }
one() {
  local name=$1 d=$TEST_DIR/$1
  mkdir -p "$d"
  tests/lib/nvcc -w -g -O3 -lineinfo -gencode "arch=compute_90,code=[compute_90,sm_90]" \
    -o "$d/program" "tests/profile/programs/$name.cu" > "$d/nvcc" 2>&1 ||
    { cat "$d/nvcc"; echo "FAIL $name: does not compile"; return; }
  timeout 120 "$WARPGRIND" --device="$device" --tool=profile --json="$d/json" \
    --log-file="$d/log" -- "$d/program" > "$d/out" 2>&1 ||
    { cat "$d/out"; tail -n 3 "$d/log"; echo "FAIL $name: exit code"; return; }
  if python3 tests/profile/planted.py "tests/profile/programs/$name.cu" "$d/json"; then
    echo "ok $name"
  else
    echo "FAIL $name: other advice"
  fi
}
# make check: one rule in two, each with its twin
[ "$device" = gpu ] || export TEST_SHARE=2
while read -r f; do one "$(basename "$f" .cu)" < /dev/null; done < <(chosen tests/profile/programs)
