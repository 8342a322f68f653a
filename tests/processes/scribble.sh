#!/usr/bin/env bash
# timeout: 300
# Programs that overwrite the memory they share with the command, from random starts: SEED (1) is
# the first of COUNT (12). The command neither crashes nor hangs: it ends with 125 and says what was
# damaged, or with a report.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
seed=${SEED:-1} count=${COUNT:-$([ "${TEST_SIZE:-}" = long ] && echo 200 || echo 12)}
export BEHAVE=$TEST_DIR/behave
$CC -std=gnu11 -g -O1 -Wall -Wextra -Isrc -pthread -o "$BEHAVE" tests/processes/behave.c \
  -L"$BUILD/lib" -l:libcuda.so.1 || { echo "FAIL build"; exit 1; }
cd "$TEST_DIR" || exit 1
options=("--tool=memcheck" "--tool=memcheck -o run.wg" "--tool=none --record -o run.wg" \
  "--tool=memcheck,racecheck --json=run.json")
bad=0 told=0
for ((i = seed; i < seed + count; i++)); do
  rm -f run.wg* run.json
  # shellcheck disable=SC2086
  timeout -s KILL 60 "$WARPGRIND" --device=cpu ${options[i % 4]} "$BEHAVE" scribble $i > out 2> err
  code=$?
  case $code in
    125) grep -q 'The program.* has damaged\|could not do its work' err && told=$((told + 1)) ||
      code=unexplained ;;
    # the program itself may die of what it did, or get an error from a call
    3 | 134 | 135 | 136 | 139) grep -q 'ended by signal\|exit code 3' err &&
      grep -q 'ERROR SUMMARY' err && code=0 || code="killed by $code" ;;
    0 | 99) grep -q 'ERROR SUMMARY\|WAS CHECKED' err || code=silent ;;
  esac
  case $code in 0 | 99 | 125) ;; *) echo "FAIL scribble_$i: $code with ${options[i % 4]}"
    tail -n 5 err; bad=1 ;; esac
done
check survives [ $bad = 0 ]
echo "$told of $count were noticed"
check noticed [ $told -gt $((count / 4)) ]
