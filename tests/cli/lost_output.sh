#!/usr/bin/env bash
# Output that cannot be written: every command ends with 125 and a sentence that names the file and
# the reason. A reader that goes away is no error.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
w=$WARPGRIND d=$TEST_DIR
$CC -std=gnu11 -g -O1 -o "$d/sort" examples/merge_sort/merge_sort_host.c -ldl -lm || exit 1
program=("$d/sort" examples/merge_sort/ptx/merge_sort.ptx)
run=("$w" --device=cpu --workers=1)
"${run[@]}" --tool=memcheck --hash=every -q --json="$d/a.json" -o "$d/a.wg" "${program[@]}" > \
  /dev/null 2>&1
"${run[@]}" --record=inputs --launch-count=1 -q -o "$d/inputs.wg" "${program[@]}" > /dev/null 2>&1
cp "$d/a.wg" "$d/b.wg"

# lost NAME COMMAND…: standard output is full
lost() {
  local name=$1 got; shift
  timeout 60 "$@" > /dev/full 2> "$d/err"; got=$?
  check "full_$name" test $got = 125
  check "full_${name}_says" has "$d/err" \
    "cannot write standard output (/dev/full): No space left on device"
}
lost help "$w" --help
lost man "$w" --man
lost version "$w" version
lost version_option "$w" --version
lost subcommand_help "$w" sql --help
lost sql "$w" sql "$d/a.wg" "SELECT * FROM meta"
lost sql_endless "$w" sql "$d/a.wg" \
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
lost dump "$w" dump "$d/a.wg"
lost diff "$w" diff "$d/a.wg" "$d/b.wg"
lost diff_json "$w" diff --json=- "$d/a.wg" "$d/b.wg"
lost entries "$w" report --gen-suppressions "$d/a.wg"
lost ptx "$w" ptx examples/merge_sort/ptx/merge_sort.ptx
lost ptx_dump "$w" ptx --dump=cfg examples/merge_sort/ptx/merge_sort.ptx
lost image "$w" image tests/fuzz/seeds/fatbin/size.fatbin
lost extract "$w" image --extract="$d/x" tests/fuzz/seeds/fatbin/size.fatbin
lost fp_diff "$w" fp-diff "$d/a.json" "$d/a.json"
lost diff_fp "$w" diff "$d/a.json" "$d/a.json"
lost completion "$w" completion bash
lost subcommand_help_word "$w" help sql
lost gold "$w" gold --devices=cpu,cpu "${program[@]}"
lost expand "$w" expand "$d/inputs.wg" --launch=1 --device=cpu -o "$d/expanded.wg"
lost view "$w" view --no-browser "$d/a.wg"

# Reports: standard error is where they go.
check report_stderr test "$("$w" report "$d/a.wg" 2> /dev/full; echo $?)" = 125
check run_stderr test "$("${run[@]}" --tool=memcheck "${program[@]}" > /dev/null 2> /dev/full;
  echo $?)" = 125
check run_stderr_closed test "$("${run[@]}" --tool=memcheck "${program[@]}" > /dev/null 2>&-;
  echo $?)" = 125
check run_stdout_closed test "$("${run[@]}" --tool=memcheck "${program[@]}" >&- 2> /dev/null;
  echo $?)" = 99

# file NAME COMMAND…: a file that was asked for cannot be written
file() {
  local name=$1 got; shift
  "$@" > "$d/out" 2> "$d/err"; got=$?
  check "$name" test $got = 125
  check "${name}_says" has "$d/err" ": No space left on device"
}
for format in json sarif junit; do
  file "run_$format" "${run[@]}" -q --tool=memcheck --$format=/dev/full "${program[@]}"
  file "report_$format" "$w" report --$format=/dev/full "$d/a.wg"
done
file diff_json_file "$w" diff --json=/dev/full "$d/a.wg" "$d/b.wg"
file gold_json_file "$w" gold --devices=cpu,cpu --json=/dev/full "${program[@]}"
ln -s /dev/full "$d/log"
"${run[@]}" --tool=memcheck --log-file="$d/log" "${program[@]}" > /dev/null 2> "$d/err"
check log_file test $? = 125
check log_file_says has "$d/err" "cannot write the log file $d/log: No space left on device"
check log_file_report grep -q "ERROR SUMMARY\|Invalid\|error" "$d/err"
"${run[@]}" --tool=none -v --launch-log="$d/log" "${program[@]}" > /dev/null 2> "$d/err"
check launch_log test $? = 125
check launch_log_says has "$d/err" "--launch-log: $d/log cannot be written: No space left on device"
"$w" view --static "$d/page" "$d/a.wg" > "$d/out" 2> "$d/err"
check static_writes test $? = 0
rm -f "$d/page/app.js" && ln -s /dev/full "$d/page/app.js"
file static "$w" view --static "$d/page" "$d/a.wg"

# A reader that goes away.
"$w" sql "$d/a.wg" \
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n" 2> "$d/err" |
  head -n 1 > /dev/null
check reader_gone test ! -s "$d/err"
(trap '' PIPE;
  timeout 60 "$w" sql "$d/a.wg" \
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n" 2> "$d/err" |
  head -n 1 > /dev/null
 test "${PIPESTATUS[0]}" = 0)
check reader_gone_ignored test $? = 0
check reader_gone_quiet test ! -s "$d/err"
