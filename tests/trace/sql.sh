#!/usr/bin/env bash
# Recorded operations in SQL: `warpgrind sql`, and sqlite3 with the extension; without it the file's
# tables can be read as before.
set -u
. "$ROOT/tests/trace/lib.sh"
build_program make_run
version=$(sed -n 's/.*RUN_SCHEMA_VERSION = \([0-9]*\).*/\1/p' src/run/run.h)
cd "$TEST_DIR" || exit 1
check made ./make_run 7 run.wg "$version" > questions.txt
extension=$BUILD/lib/warpgrind_sqlite.so
case $extension in /*) ;; *) extension=$ROOT/$extension ;; esac
# a sanitized extension needs a sanitized sqlite3
plain() { command -v sqlite3 > /dev/null && [ "$SAN" = 0 ]; }
while IFS=$'\t' read -r name question answer; do
  check "$name" [ "$("$WARPGRIND" sql run.wg "$question" 2>&1 | tail -n +2 | tr '\t' '|')" = \
    "$answer" ]
  ! plain ||
    check "sqlite3_$name" [ "$(sqlite3 -readonly run.wg ".load $extension" "$question" 2>&1)" = \
    "$answer" ]
done < <(grep -v '^ok' questions.txt)
check a_question_needs_arguments [ "$(code "$WARPGRIND" sql run.wg 'select * from writer')" = 125 ]
check a_wrong_record       [ "$(code "$WARPGRIND" sql run.wg 'select * from writer(99999999)')" = \
  125 ]
check a_wrong_record_said  has err 'there is no recorded operation'
if plain; then
  check tables_without_extension [ \
    "$(sqlite3 -readonly run.wg 'select count(*) > 0 from trace_chunk')" = 1 ]
else
  echo "skip sqlite3: it is not installed, or is not sanitized"
fi
