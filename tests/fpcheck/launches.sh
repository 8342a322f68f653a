#!/usr/bin/env bash
# timeout: 900
# Fast mode: which launches and threads are tested everywhere, what is counted in the others, and
# what a second run finds.
. tests/fpcheck/lib.sh
command -v nvcc > /dev/null || { echo "skip launches: nvcc is not on PATH"; exit 0; }
born() { kinds | grep -v '^fp-output'; }              # across.sh looks at what reaches the host
for name in large once integers loops known staged hidden; do build $name compute_75 & done
build halves compute_90 &
wait

# A large launch in fast mode: the sink fires, and blocks that start later are tested everywhere.
code fp "$TEST_DIR/large" > /dev/null
check "large: a sink fired" has "$TEST_DIR/report.json" '"kind":"fp-reached"'
check "large: the birth was found in the same launch" has "$TEST_DIR/report.json" '"kind":"fp-div0"'
code fp --workers=1 "$TEST_DIR/large" 200000 2 > /dev/null
check "large: every birth is counted in the launch whose sink fired, sinks in both" is \
  "$(kinds | awk '/div0/{ b = $2 } /reached/{ r = $2 } END { print b, r }')" "3125 6250"
code fp --fp-mode=full "$TEST_DIR/large" 200000 1 > /dev/null
check "large: every birth is counted in full mode" is "$(born)" "fp-div0 3125"
check "large: nothing to find" is "$(code fp "$TEST_DIR/large" 200000 2 2.0)" 0
check "large: and nothing found" is "$(kinds)" ""

# One of K launches of each kernel.
code fp --fp-every=3 "$TEST_DIR/large" 6400 7 > /dev/null
check "--fp-every=3 of 7 launches" is "$(born | grep div0)" "fp-div0 200"
check "--fp-every is in the coverage" has "$TEST_DIR/err" "3 launches"

# What is known costs less and less: the first launch and those at distances of 0, 16 … from the
# first in which a sink fired are tested everywhere, every other one at its sinks; that at a
# distance of 1 too if nothing was found until then.
code fp "$TEST_DIR/large" 6400 40 > /dev/null
check "many launches: births of launches 1, 2 and 18" is "$(kinds | grep div0)" "fp-div0 300"
check "many launches: sinks of all but the first" is "$(kinds | sed -n 's/^fp-reached //p')" 3900
code fp --fp-mode=full "$TEST_DIR/large" 6400 40 > /dev/null
check "many launches: full mode counts all" is "$(born)" "fp-div0 4000"

# A thread that came to a sink runs again through the full body, unless what is read is written too.
check "once: found in the same launch" is "$(code fp "$TEST_DIR/once")" 99
check "once: one birth, one sink" is "$(born)" "fp-div0 1
fp-reached 1"
check "once: in place: a note is no error" is "$(code fp "$TEST_DIR/once" in-place)" 0
check "once: in place: the sink" is "$(born)" "fp-reached 1"
check "once: in place: what to do" has "$TEST_DIR/err" "--fp-mode=full tests every instruction"
check "once: in place: full mode finds it" is \
  "$(code fp --fp-mode=full "$TEST_DIR/once" in-place)" 99
for how in "" in-place; do
  plain=$(plain "$TEST_DIR/once" $how)
  for mode in full fast; do
    check "once $how: same results, $mode" is \
      "$(fp -q --fp-mode=$mode "$TEST_DIR/once" $how 2> /dev/null)" "$plain"
  done
done

# --fp-rerun: a second run finds what the first could only see.
check "--fp-rerun: finds it" is "$(code fp --fp-rerun "$TEST_DIR/once" in-place < "$t/once.cu")" 99
check "--fp-rerun: the birth joins the sink" is "$(born)" "fp-div0 1
fp-reached 1"
check "--fp-rerun: output once" is "$(cat "$TEST_DIR/out")" "$(plain "$TEST_DIR/once" in-place)"
check "--fp-rerun: says so" has "$TEST_DIR/err" "--fp-rerun: the program runs a second time, "\
"without its standard output; tested at every instruction: divides("
check "--fp-rerun: coverage is the first run's" has "$TEST_DIR/err" \
  "coverage (fpcheck): 1 launches (100%) of 1 kernels"
check "--fp-rerun: only where it is needed" is \
  "$(code fp --fp-rerun "$TEST_DIR/once" < "$t/once.cu") $(grep -c 'second time' "$TEST_DIR/err")" \
  "99 0"
# Nothing is born in the second run either: it says so, and does not ask for what was done.
check "--fp-rerun: what only came in is no error" is \
  "$(code fp --fp-rerun "$TEST_DIR/staged" < /dev/null) $(born)" "0 fp-reached 1"
check "--fp-rerun: and is said to have come in" has "$TEST_DIR/err" "doubles(float*, float "\
"const*): NaN or infinity was seen and the second run found none that is born in it"
check "--fp-rerun: no advice to do it again" is "$(grep -c 'fp-mode=full tests' "$TEST_DIR/err")" 0
code fp --fp-rerun -o "$TEST_DIR/staged.wg" "$TEST_DIR/staged" < /dev/null > /dev/null
"$WARPGRIND" report "$TEST_DIR/staged.wg" > /dev/null 2> "$TEST_DIR/again"
check "--fp-rerun: its run file says so too" is \
  "$(grep -c 'second run found none' "$TEST_DIR/again") $(grep -c 'fp-mode=full tests' \
  "$TEST_DIR/again")" "1 0"
check "--fp-rerun: nothing in its twin" is \
  "$(code fp --fp-rerun "$TEST_DIR/staged" good < /dev/null) $(kinds)" "0 "
check "--fp-rerun: not with a pipe" is "$(true | code fp --fp-rerun "$TEST_DIR/once")" 125
check "--fp-rerun: named" has "$TEST_DIR/err" "--fp-rerun: standard input is a pipe"

# Kernels without floating point run as they are, and count as checked; in GPU mode no code is made
# for them unless they share a variable with others.
check "integers: exit code" is "$(code fp -v "$TEST_DIR/integers")" 0
check "integers: results" is "$(cat "$TEST_DIR/out")" "3160 2.5"
check "integers: coverage, graphs too" has "$TEST_DIR/err" \
  "coverage (fpcheck): 14 launches (100%) of 3 kernels"
if [ "$device" = gpu ]; then
  check "integers: as they are" is "$(grep -c 'there is nothing to check in it' "$TEST_DIR/err")" 1
fi
code fp --fp-every=2 "$TEST_DIR/integers" > /dev/null
check "integers: --fp-every" has "$TEST_DIR/err" "add_to_variable(int): 3 of 5 launches"

# Pairs: their halves stay numbers, so that they are tested where they are stored, once.
check "halves: exit code" is "$(code fp "$TEST_DIR/halves")" 99
check "halves: found in the same launch" is "$(kinds | grep -v '^fp-reached\|^fp-output')" \
  "fp-inf 80
fp-input 40
fp-nan 20"
check "halves: the sinks are the stores" is "$(python3 -c 'import json,sys
print(*sorted((f["inlined_at"][-1] if f.get("inlined_at") else f)["line"] for f in
  json.load(open(sys.argv[1]))["findings"] if f["kind"] == "fp-reached"))' \
  "$TEST_DIR/report.json")" "$(line_of sink "$t/halves.cu" | paste -s -d' ')"
check "halves: results" is "$(cat "$TEST_DIR/out")" "$(plain "$TEST_DIR/halves")"
check "halves: twin" is "$(code fp "$TEST_DIR/halves" twin) $(kinds)" "0 "

# Launches of a graph have one record: they are tested everywhere only until what their sinks see is
# explained.
check "once: a graph" is "$(code fp "$TEST_DIR/once" graph)" 99
check "once: a graph: one or two of ten launches are tested everywhere, the others at their sinks" \
  is "$(kinds | awk '/div0/{ b += $2 } /reached/{ r += $2 }
    END { print (b > 0 && b <= 200), (r >= 800 && r < 1000) }')" "1 1"

# Loops: exceptions that are born in the middle of one come to its sinks in every turn that is left.
at_line() { python3 -c 'import json,sys; print(sum(f["count"] for f in
  json.load(open(sys.argv[1]))["findings"] if f["kind"] == sys.argv[2] and f["line"] ==
  int(sys.argv[3])))' "$TEST_DIR/report.json" "$1" "$(line_of "$2" "$t/loops.cu")"; }
check "loops: exit code" is "$(code fp "$TEST_DIR/loops")" 99
read -r threads stores divides < <(tail -n 1 "$TEST_DIR/out")
check "loops: threads that are tested at their sinks come to them in 17 turns, all others have "\
"one birth" is "$(($(at_line fp-inf sums) * 17 + $(at_line fp-reached sums)))" $((threads * 17))
check "loops: stores of two" is "$(at_line fp-reached stores)" "$stores"
check "loops: divisors" is "$(at_line fp-reached divides)" "$divides"
check "loops: results" is "$(cat "$TEST_DIR/out")" "$(plain "$TEST_DIR/loops")"
check "loops: full mode, results" is "$(fp -q --fp-mode=full "$TEST_DIR/loops" 2> /dev/null)" \
  "$(plain "$TEST_DIR/loops")"
check "loops: twin" is "$(code fp "$TEST_DIR/loops" twin) $(kinds)" "0 "
check "loops: twin, results" is "$(cat "$TEST_DIR/out")" "$(plain "$TEST_DIR/loops" twin)"

# Exceptions that are known are only counted, by every warp of every launch, and none is lost.
check "known: exit code" is "$(code fp "$TEST_DIR/known")" 99
check "known: each is counted once for each launch" is "$(python3 -c 'import json,sys
print(sum(f["count"] for f in json.load(open(sys.argv[1]))["findings"] if f["line"] ==
  int(sys.argv[2]) and f["kind"] in ("fp-reached", "fp-input")))' "$TEST_DIR/report.json" \
  "$(line_of carried "$t/known.cu")")" 2800000
check "known: results" is "$(cat "$TEST_DIR/out")" "$(plain "$TEST_DIR/known")"
check "known: twin" is "$(code fp "$TEST_DIR/known" twin) $(kinds)" "0 "

# A kernel whose exceptions are known: of its next launch one in 8 of the first blocks is still
# tested everywhere.
code fp --workers=1 "$TEST_DIR/hidden" > /dev/null
check "hidden: what comes later is found" is \
  "$(born | awk '/div0/ { d = $2 >= 1 } /nan/ { n = $2 >= 2 } END { print d, n }')" "1 1"
