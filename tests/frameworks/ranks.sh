#!/usr/bin/env bash
# quick: yes
# A launcher of several processes, as torchrun is one: all of them are in one report.
set -u
cd "$ROOT" || exit 1
[ "$SAN" = 0 ] || { echo "skip ranks: not under sanitizers"; exit 0; }
command -v python3 > /dev/null || { echo "skip ranks: no python3"; exit 0; }
run() {  # NAME ARGUMENTS…
  local name=$1; shift
  timeout 60 "$WARPGRIND" --device=cpu --tool=memcheck python3 tests/frameworks/ranks.py "$@" > \
    "$TEST_DIR/$name.out" 2> "$TEST_DIR/$name.log"
  echo $?
}
. tests/lib/check.sh
says() { grep -qF -- "$1" "$TEST_DIR/$2" || { cat "$TEST_DIR/$2"; return 1; }; }
line=$(grep -n '# launched' tests/frameworks/ranks.py | cut -d: -f1)
check wrong         [ "$(run wrong)" = 99 ]
check wrong_line    says "at work (tests/frameworks/ranks.py:$line)" wrong.log
check wrong_ended   says "ranks ended: [0, 0]" wrong.out
check wrong_covered says "coverage (memcheck): 2 launches (100%)" wrong.log
check one_report    [ "$(grep -c 'ERROR SUMMARY' "$TEST_DIR/wrong.log")" = 1 ]
check one_finding   says "ERROR SUMMARY: 1 errors from 1 places" wrong.log
check right         [ "$(run right ok)" = 0 ]
check right_covered says "coverage (memcheck): 2 launches (100%)" right.log
