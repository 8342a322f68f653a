#!/usr/bin/env bash
# quick: yes
# A finding in a step of PyTorch's backward pass names the line of the forward pass: with a library
# that does what PyTorch does.
set -u
cd "$ROOT" || exit 1
[ "$SAN" = 0 ] || { echo "skip forward: not under sanitizers"; exit 0; }
command -v g++ > /dev/null && python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' ||
  { echo "skip forward: no g++ or no python3"; exit 0; }
g++ -std=c++14 -O1 -g -fPIC -shared -pthread -o "$TEST_DIR/libtorch_cpu.so" \
  tests/frameworks/fake_torch.cc -L"$BUILD/lib" -l:libcuda.so.1 || { echo "FAIL g++"; exit 1; }
line=$(grep -n 'the line of the wrong step' tests/frameworks/forward.py | cut -d: -f1)
caller=$(grep -n '^normalise()' tests/frameworks/forward.py | cut -d: -f1)
run() {  # NAME MORE…
  local name=$1; shift
  timeout 60 "$WARPGRIND" --device=cpu --tool=memcheck python3 tests/frameworks/forward.py \
    "$TEST_DIR/libtorch_cpu.so" "$@" > "$TEST_DIR/$name.out" 2> "$TEST_DIR/$name.log"
  echo $?
}
. tests/lib/check.sh
says() { grep -qF -- "$1" "$TEST_DIR/$2" || { cat "$TEST_DIR/$2"; return 1; }; }
check wrong_code   [ "$(run wrong)" = 99 ]
at=tests/frameworks/forward.py
check wrong_line   says "at normalise in the forward pass ($at:$line)" wrong.log
check wrong_caller says "by <module> in the forward pass ($at:$caller)" wrong.log
check once         [ "$(grep -c 'normalise in the forward pass' "$TEST_DIR/wrong.log")" = 1 ]
check results      [ "$(cat "$TEST_DIR/wrong.out")" = "done 0" ]
check right        [ "$(run right ok)" = 0 ]
check right_silent says "ERROR SUMMARY: 0 errors" right.log
check right_out    [ "$(cat "$TEST_DIR/right.out")" = "done 0" ]
