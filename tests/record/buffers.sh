#!/usr/bin/env bash
# timeout: 300
# --buffer: only operations on the chosen buffers are recorded.
set -u
. tests/record/common
build buffers -g || exit
list() { sql "$1" "SELECT a.kind, a.space, (SELECT coalesce(b.name, b.pointer) FROM allocation b
  WHERE b.base <= a.address AND b.base + b.size > a.address AND b.id < a.step ORDER BY b.id DESC
  LIMIT 1) FROM access a WHERE a.kind <> 'sync'" | sort | uniq -c | awk '{ print $1, $2, $3, $4 }' |
  tr '\n' ';'; }
record cpu buffers all
check all test "$(list all)" = "128 atomic global total;128 load global first;128 load shared "\
";128 store global second;128 store shared ;"
chosen() {
  record cpu buffers "$1" --buffer="$2"; check "$1-result" cmp "$work/all.out" "$work/$1.out"
}
chosen pointer second
check pointer test "$(list pointer)" = "128 store global second;"
chosen variable total
check variable test "$(list variable)" = "128 atomic global total;"
chosen several first,total
check several test "$(list several)" = "128 atomic global total;128 load global first;"
number=$(sql all "SELECT count(*) FROM allocation WHERE id <= (SELECT min(id) FROM allocation WHERE
  pointer = 'second')")
chosen number "$number"
check number test "$(list number)" = "64 store global second;"
chosen none nothing
check none test -z "$(list none)"
check none-said grep -q "no buffer called nothing was allocated" "$work/none.err"
check others-not-said test -z "$(grep "no buffer called" "$work/pointer.err" "$work/variable.err" \
  "$work/several.err" "$work/number.err")"
check not-complete test \
  "$(sql pointer "SELECT group_concat(recorded) FROM step WHERE kind = 'launch'")" = 2,2
"$WARPGRIND" --buffer=a "$work/buffers" > "$work/refused" 2>&1
check needs-record grep -q -- "--buffer belongs to --record" "$work/refused"
