#!/usr/bin/env bash
# JAX on a real GPU, each tool by itself and all of them: the output of a plain run, no finding.
# Where it fails, the PTX of the kernel that is named goes to $TEST_DIR, and its head is printed.
set -u
folder=$(dirname "$0")
python3 -c 'import jax, sys; sys.exit(jax.devices()[0].platform != "gpu")' 2> /dev/null ||
  { echo "skip jax: there is no JAX with a GPU"; exit 0; }
export XLA_PYTHON_CLIENT_PREALLOCATE=false
python3 "$folder/models.py" jax > "$TEST_DIR/plain.out" 2> "$TEST_DIR/plain.log" ||
  { echo "FAIL jax: plain: $(tail -n 1 "$TEST_DIR/plain.log")"; exit 1; }

run() {  # TOOL
  WARPGRIND_CACHE_DIR=$TEST_DIR/cache.$1 timeout "${LIMIT:-150}" "$WARPGRIND" --device=gpu \
    --tool="$1" python3 "$folder/models.py" jax > "$TEST_DIR/$1.out" 2> "$TEST_DIR/$1.log"
  echo $? > "$TEST_DIR/$1.code"
}
show_kernel() {  # LOG CACHE: the PTX of the kernel that a driver's error is about
  local name file
  name=$(grep -ohE '(input|loop|gemm|wrapped)[a-z_]*fusion[a-z_0-9]*' "$1" | sort | uniq -c |
    sort -rn | awk 'NR == 1 {print $2}')
  [ -n "$name" ] || return
  file=$(grep -lE "entry $name\b" "$2"/ptxas/*.ptx | head -n 1)
  [ -n "$file" ] || return
  cp "$file" "$TEST_DIR/$name.ptx"
  echo "--- $name:"
  head -n "${LINES_OF_PTX:-260}" "$file"
}
for tool in memcheck racecheck synccheck initcheck fpcheck all; do run $tool & done
wait
for tool in memcheck racecheck synccheck initcheck fpcheck all; do
  if [ "$(cat "$TEST_DIR/$tool.code")" = 0 ] && cmp -s "$TEST_DIR/plain.out" "$TEST_DIR/$tool.out"
  then
    echo "ok jax $tool: $(grep -h 'coverage' "$TEST_DIR/$tool.log" | head -n 1)"
  else
    echo "FAIL jax $tool: exit code $(cat "$TEST_DIR/$tool.code")"
    grep -hE 'Error:|Warning:|CUDA_ERROR|  at |  by kernel|coverage' "$TEST_DIR/$tool.log" |
      head -n 30
    show_kernel "$TEST_DIR/$tool.log" "$TEST_DIR/cache.$tool"
  fi
done
