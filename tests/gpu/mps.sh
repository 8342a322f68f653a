#!/usr/bin/env bash
# timeout: 120
# Two processes that share a GPU through NVIDIA's Multi-Process Service: each has its own findings,
# and results are those without us. A daemon of our own with its own folders; GPUs only (gpu.sh).
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh
[ "${GPU_DEVICE:-}" = gpu ] || { echo "skipped: this needs a GPU"; exit 77; }
command -v nvidia-cuda-mps-control > /dev/null || { echo "skipped: the MPS daemon is not installed"
  exit 77; }
work=$TEST_DIR/mps
rm -rf "$work"; mkdir -p "$work/log"
folder=$(mktemp -d)                  # a socket's name must be short
export CUDA_MPS_PIPE_DIRECTORY=$folder CUDA_MPS_LOG_DIRECTORY=$work/log \
  WARPGRIND_CACHE_DIR=$work/cache
for name in merge_sort merge_sort_ok; do
  nvcc -w -O3 -lineinfo -arch=compute_75 -o "$work/$name" "examples/merge_sort/$name.cu" || exit 1
done
"$work/merge_sort_ok" > "$work/plain.out" 2>&1             # before the service runs
nvidia-cuda-mps-control -d || { echo "skipped: the MPS daemon does not start"; exit 77; }
trap 'echo quit | nvidia-cuda-mps-control > /dev/null 2>&1; rm -rf "$folder"' EXIT
timeout 30 "$work/merge_sort_ok" > "$work/served.out" 2>&1
cmp -s "$work/plain.out" "$work/served.out" || { head -n 3 "$work/served.out" "$work/log"/*
  echo "skipped: programs do not run with MPS here"; exit 77; }
for name in merge_sort merge_sort_ok; do
  timeout 60 "$WARPGRIND" --device=gpu --tool=memcheck,initcheck --log-file="$work/$name.log" \
    --json="$work/$name.json" -- "$work/$name" > "$work/$name.out" 2>&1 &
done
wait
found() { python3 -c 'import json, sys; print(*sorted({f["kind"] for f in
  json.load(open(sys.argv[1]))["findings"] if f["severity"] == "error"}))' "$work/$1.json"; }
check "mps: a server serves them" grep -q . "$work/log/server.log"
check "mps: the findings of a program" test "$(found merge_sort)" = "oob-read oob-write uninit-use"
check "mps: none in another beside it" test -z "$(found merge_sort_ok)"
check "mps: same results" cmp "$work/plain.out" "$work/merge_sort_ok.out"
