#!/usr/bin/env bash
# timeout: 300
# --record=inputs where what launches write is not kept (--inputs-rate=0): expand runs the launches
# before again, and then the one that is wanted does what it did.
set -u
. tests/record/common
build inputs || exit
build steps || exit
. tests/record/inputs_common
record cpu inputs all
kept() {
  timeout -k 5 100 "$WARPGRIND" --device=cpu --record=inputs --inputs-rate="$2" -o "$work/$3.wg" \
    "$work/$1" > "$work/$3.out" 2> "$work/$3.err"
}
kept inputs 0 none
for launch in 2 6 8 15; do
  expand none cpu "launch$launch" "$launch"
  same "launch$launch" "$launch"
done
# a loop over two buffers, each launch reading what the one before it wrote; one copy from the host
# in the middle
rm -f "$work/all.operations"
record cpu steps all
kept steps 0 none
kept steps 1000000 whole
check kept-none test "$(sql none "SELECT count(DISTINCT value) || ' ' || min(value) || ' ' ||
  max(value) FROM step WHERE kind = 'inputs'")" = "2 0 1"
check kept-whole test "$(sql whole "SELECT max(value) FROM step WHERE kind = 'inputs'")" = 0
check less test "$(sql none "SELECT sum(bytes) FROM trace_contents")" -lt \
  "$(sql whole "SELECT sum(bytes) FROM trace_contents")"
for launch in 1 7 20; do
  expand none cpu "step$launch" "$launch"
  same "step$launch" "$launch"
  check "only$launch" test "$(sql "step$launch" "SELECT group_concat(DISTINCT l.number) FROM access
    a JOIN launch l ON l.id = a.launch_id")" = "$launch"
done
expand none cpu part 5..9
same part 5 6 7 8 9
# before a launch whose inputs were not kept whole, nothing is said to be known of what launches
# wrote
known() { sql "$1" "SELECT group_concat(DISTINCT known) FROM contents((SELECT max(id) FROM
  allocation WHERE kind = 'device'), (SELECT s.id FROM step s JOIN launch l ON l.id = s.launch WHERE
  s.kind = 'inputs' AND l.number = 9), 0, 64)"; }
check unknown test "$(known none)" = 2
check known test "$(known whole)" = 1
# copies and sets over what launches wrote, on the virtual device
build told || exit
rm -f "$work/all.operations"
record cpu told all
kept told 0 told
expand told cpu told_all 1..10
same told_all 1 2 3 4 5 6 7 8 9 10
