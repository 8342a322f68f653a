#!/usr/bin/env bash
# quick: yes
# timeout: 300
# Suppression files: what matches, what does not, what is said about it, and what a mistake in one
# leads to.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/session.sh
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
# shellcheck disable=SC2086
$CC -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter $san -pthread -Isrc -Itests/channel -o \
  "$TEST_DIR/fake" tests/channel/fake.c \
  "${SESSION_OBJS[@]}" || { echo "FAIL fake: does not compile"; exit 1; }
cd "$TEST_DIR" || exit 1
w="$WARPGRIND --device=cpu --tool=count"
sum() { sed -n 's/.*ERROR SUMMARY: //p' err; }
entry() { printf '{\n%s\n}\n' "$1" > one.supp; }
# matches NAME ENTRY, misses NAME ENTRY: the program has one finding, an oob-write at fake.cu:11 in
# helper, inlined at fake.cu:101 in outer, kernel k
matches() { entry "$2"; check "matches_$1" [ "$(code $w --suppressions=one.supp ./fake finding 5;
  sum)" = "0
0 errors from 0 places" ]; }
misses() { entry "$2"; check "misses_$1" [ "$(code $w --suppressions=one.supp ./fake finding 5;
  sum)" = "99
5 errors from 1 places" ]; }

matches kind        'kind: oob-write'
matches kind_glob   'kind: oob-*'
matches kind_list   'kind: leak , oob-write'
matches all         'kind: *'
misses  kind        'kind: oob-read, leak'
matches kernel      $'kind: *\nkernel: k'
misses  kernel      $'kind: *\nkernel: kk*'
matches file        $'kind: *\nfile: fake.cu'
matches file_glob   $'kind: *\nfile: f?k*.cu'
misses  file        $'kind: *\nfile: ake.cu'
matches line        $'kind: *\nline: 11'
matches line_outer  $'kind: *\nfunction: outer\nline: 101'
misses  line_mixed  $'kind: *\nfunction: helper\nline: 101'
matches lines       $'kind: *\nline: 10-12'
misses  lines       $'kind: *\nline: 12-100'
matches function    $'kind: *\nfunction: help*'
misses  function    $'kind: *\nfunction: main'
misses  text        $'kind: *\ntext: *'
matches program     $'kind: *\nprogram: fake'
misses  program     $'kind: *\nprogram: other'
matches comments    $'# one\nkind: *   \n\n  # line: 1\n'

# counted, named, and the unused ones told
printf '# two of three are used\n{\n  name: writes\n  kind: oob-write\n}\n{\n  name: never\n  '\
'kind: race-*\n  kernel: other\n}\n{\n  kind: oob-read\n}\n' > three.supp
check several        [ "$(code $w --host-stacks=no --json=s.json --sarif=s.sarif --junit=s.xml -o \
  s.wg --suppressions=three.supp ./fake kinds)" = 99 ]
check several_sum    grep -q 'suppressed: 3 findings from 3 places$' err
check several_named  grep -q '  1 from 1 place by "writes" (three.supp:2)$' err
check several_own    grep -q '  2 from 2 places by "three.supp:11" (three.supp:11)$' err
check several_unused grep -q 'suppression "never" (three.supp:6) was not used$' err
check several_text   eval '! grep -q "(oob-write)\|(oob-read)" err && grep -q "(oob-atomic)" err'
check several_json   eval 'python3 -c "
import json
r = json.load(open(\"s.json\"))
assert not [f for f in r[\"findings\"] if f[\"kind\"] in (\"oob-write\", \"oob-read\")]
assert r[\"suppressed\"][\"findings\"] == 3
assert [s[\"places\"] for s in r[\"suppressed\"][\"by\"]] == [1, 0, 2]"'
check several_files  eval 'python3 "$ROOT/tests/report/check_sarif.py" s.sarif &&
  python3 "$ROOT/tests/report/check_junit.py" s.xml && ! grep -q "oob-write" s.xml'
cp err first
check again          eval \
  '"$WARPGRIND" report --json=again.json s.wg 2> err; diff first err && cmp s.json again.json'
check quiet          eval \
  '$w --host-stacks=no -q --suppressions=three.supp ./fake kinds 2> err; ! grep -q "suppress" err'
# on a run file that was made without
code $w --host-stacks=no -o plain.wg ./fake kinds > /dev/null
check later          [ "$(code "$WARPGRIND" report --suppressions=three.supp plain.wg)" = 0 ]
check later_said     grep -q 'suppressed: 3 findings from 3 places$' err
check later_text     eval '! grep -q "(oob-write)" err'
# several files, both ways
printf '{\nkind: oob-*\n}\n' > a.supp; printf '{\nkind: race-*\n}\n' > b.supp
check two_options    eval \
  'code $w --suppressions=a.supp --suppressions=b.supp ./fake kinds > /dev/null;
  grep -q "by \"a.supp:1\"" err && grep -q "by \"b.supp:1\"" err'
check comma          eval 'code $w --suppressions=a.supp,b.supp ./fake kinds > /dev/null;
  grep -q "by \"a.supp:1\"" err && grep -q "by \"b.supp:1\"" err'
check environment    eval \
  'WARPGRIND_SUPPRESSIONS=a.supp code $w ./fake kinds > /dev/null; grep -q "by \"a.supp:1\"" err'
# all of them suppressed: the program's own exit code
printf '{\nkind: *\n}\n' > all.supp
check exit_code      [ "$(code $w --suppressions=all.supp ./fake kinds 0 6)" = 6 ]

# entries for all findings suppress all of them
code $w --gen-suppressions ./fake kinds > /dev/null
check gen_plain      [ "$(grep -c '^{$' err)" = \
  "$(grep -cE '^==[0-9]+== (Error|Warning|Note): ' err)" ]
sed -n '/^{$/,/^}$/p' err > gen.supp
check gen_works      [ "$(code $w --suppressions=gen.supp ./fake kinds)" = 0 ]
check gen_none_left  eval '! grep -qE "^==[0-9]+== (Error|Warning|Note): " err'
code $w -o gen.wg ./fake kinds > /dev/null
check gen_report     eval '"$WARPGRIND" report --gen-suppressions gen.wg > gen2.supp 2> err &&
  [ ! -s err ] && diff <(sort gen.supp) <(sort gen2.supp)'
"$WARPGRIND" report --gen-suppressions gen.wg | sed -n '/oob-write/,/^}/p' |
  sed '/stack:/,/^}/d' > entry
check gen_entry      diff entry - << 'X'
  name: oob-write at fake.cu:12
  kind: oob-write
  kernel: k
  file: fake.cu
  function: helper
  # line: 12
X

# mistakes: named with line and column, and the program does not start
mistake() { # NAME LINE:COLUMN WORDS FILE
  printf "$4" > bad.supp
  check "mistake_$1" [ "$(code $w --suppressions=bad.supp ./fake odd)" = 125 ]
  check "mistake_$1_said" has err "bad.supp:$2: $3"
  check "mistake_$1_not_started" [ "$(grep -c SUMMARY err)" = 0 ]
}
mistake word    2:3 '"kenrel" is not known here; there are name, kind, kernel' \
  '{\n  kenrel: x\n}\n'
mistake kind    2:15 'no kind of finding is called "oob-wrte"'   '{\n  kind: leak, oob-wrte\n}\n'
mistake no_kind 3:1 'the entry has no kind'                      '{\n  kernel: k\n}\n'
mistake open    3:1 'the entry that begins here has no }'        '\n\n{\n  kind: *\n'
mistake outside 1:1 'expected { or a comment (#)'                'kind: *\n'
mistake twice   3:1 '"kind" stands twice in this entry'          '{\nkind: *\nkind: *\n}\n'
mistake line    3:9 'expected a line'                            '{\nkind: *\n  line: ten\n}\n'
mistake lines   3:9 'there are no such lines'                    '{\nkind: *\n  line: 9-3\n}\n'
mistake frame   3:1 'frames go on the lines below "stack:" or "allocated:"' \
  '{\nkind: *\nfun: main\n}\n'
mistake value   3:8 '"kernel" needs a value'                     '{\nkind: *\nkernel:\n}\n'
mistake colon   2:2 'expected a word and a colon, or }' '{\n oob-read\n}\n'
check mistake_report [ "$(code "$WARPGRIND" report --suppressions=bad.supp plain.wg)" = 125 ]
check no_file        [ "$(code $w --suppressions=nothing.supp ./fake odd)" = 125 ]
check no_file_said   has err 'nothing.supp'

# stacks: a program that was compiled with debug information
command -v nvcc > /dev/null || { echo "skip stacks: nvcc is not installed"; exit 0; }
nvcc -w -g -O3 -lineinfo -arch=compute_75 -o merge_sort "$ROOT/examples/merge_sort/merge_sort.cu" \
  > nvcc.log 2>&1 || { cat nvcc.log; echo "FAIL nvcc"; exit 1; }
w="$WARPGRIND --device=cpu"
# NAME, ENTRY, places left of the two: the write to b and the read of a, launched by msort inlined
# in main
stack() {
  entry "$2"
  check "stack_$1" [ "$(code $w --suppressions=one.supp ./merge_sort > /dev/null;
    sed -n 's/.*ERROR SUMMARY: .* from \([0-9]*\) .*/\1/p' err)" = "$3" ]
}
stack whole      $'kind: *\nstack:\n fun: msort\n fun: main' 0
stack start      $'kind: *\nstack:\n fun: ms*' 0
stack any        $'kind: *\nstack:\n ...\n fun: main' 0
stack any_none   $'kind: *\nstack:\n fun: msort\n ...\n fun: main' 0
stack source     $'kind: *\nstack:\n src: merge_sort/merge_sort.cu\n src: *.cu' 0
stack object     $'kind: *\nstack:\n obj: merge_sort\n ...' 0
stack other      $'kind: *\nstack:\n fun: main' 2
stack too_long   $'kind: *\nstack:\n ...\n fun: main\n fun: *' 2
stack line       $'kind: *\nstack:\n src: merge_sort.cu:1' 2
line=$(grep -n 'cudaMalloc(&a' "$ROOT/examples/merge_sort/merge_sort.cu" | cut -d: -f1)
stack allocated  $'kind: *\nallocated:\n src: merge_sort.cu:'"$line" 1
stack nobody     $'kind: *\nallocated:\n fun: nobody' 2
stack kernel     $'kind: *\nkernel: bsmerge' 0
stack parameters $'kind: *\nkernel: bsmerge(int*, int const*, int, int)' 0
stack linked     $'kind: *\nkernel: _Z7bsmerge*' 0
stack function   $'kind: *\nfunction: bsmerge\nfile: examples/merge_sort/merge_sort.cu' 0
check stack_gen      eval 'code $w --gen-suppressions ./merge_sort > /dev/null;
  sed -n "/^{$/,/^}$/p" err > gen.supp; [ "$(code $w --suppressions=gen.supp ./merge_sort)" = 0 ]'
check stack_gen_text diff <(sed -n '/oob-write/,/^}$/p' gen.supp) - << X
  name: oob-write at merge_sort.cu:31
  kind: oob-write
  kernel: bsmerge(int*, int const*, int, int)
  file: merge_sort.cu
  function: bsmerge(int*, int const*, int, int)
  # line: 31
  stack:
    fun: msort
    fun: main
}
X
