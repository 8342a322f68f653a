#!/usr/bin/env bash
# The programs of this folder against a real driver: what they expect of the virtual device is what a GPU does.
set -u
cd "$ROOT" || exit 1
export BLESS=0 TEST_DEVICE=gpu
. tests/lib/steps.sh
top=$TEST_DIR
one() {
  TEST_FILE=$1 TEST_DIR=$top/$(basename "$1" .c)
  rm -rf "$TEST_DIR"; mkdir -p "$TEST_DIR"
  step_c_program > "$TEST_DIR/said" 2>&1
  case $? in
    0) echo "ok $(basename "$1" .c)" ;;
    77) echo "skip $(basename "$1" .c): $(tail -n 1 "$TEST_DIR/said")" ;;
    *) sed 's/^/    /' "$TEST_DIR/said" | head -n 30; echo "FAIL $(basename "$1" .c)" ;;
  esac
}
for f in tests/driver/*.c; do
  [ -e "${f%.c}.sh" ] && continue
  { text=$(one "$f"); printf '%s\n' "$text"; } &
done
wait
