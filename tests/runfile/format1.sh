#!/usr/bin/env bash
# Run files of format 1 (user_version 3 and 4) stay readable: format1/ has two that an older
# Warpgrind recorded from recorded.c, and what it said about them.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
kept=$ROOT/tests/runfile/format1
cd "$TEST_DIR" || exit 1
for f in first second; do gunzip -c "$kept/$f.wg.gz" > $f.wg; done

check version            [ "$("$WARPGRIND" sql first.wg 'pragma user_version' | tail -n 1)" = 4 ]
check report             [ "$(code "$WARPGRIND" report first.wg)" = 0 ]
check report_same        diff err "$kept/report.txt"
check report_json        [ "$(code "$WARPGRIND" report first.wg --json=report.json;
  grep -c oob-write report.json)" = "0
1" ]
check sql                diff <("$WARPGRIND" sql first.wg 'select * from access') "$kept/access.txt"
check contents           diff \
  <("$WARPGRIND" sql first.wg 'select * from contents((select max(id) from allocation))') \
  "$kept/contents.txt"
# shellcheck disable=SC2046
check dump               diff <("$WARPGRIND" dump first.wg $(sed -n 's/^# //p' "$kept/dump.txt")) \
  "$kept/dump.txt"
check dump_all           [ "$(code "$WARPGRIND" dump first.wg)" = 0 ]
check diff               diff <("$WARPGRIND" diff --all first.wg second.wg) "$kept/diff.txt"
"$WARPGRIND" view --static page first.wg > out 2> err
case $(cat err) in
  *"without the page"*) echo "skip static: this warpgrind was built without the page" ;;
  *) check static        [ -s page/data/run.js -a -s page/data/t-25-0.js -a -s page/data/b-18.js ] \
    ;;
esac

# Version 3 did not have the tables that say what orders steps.
cp first.wg three.wg
python3 -c 'import sqlite3; sqlite3.connect("three.wg").executescript("drop table step_after; '\
'drop table benign_race; pragma user_version=3")'
check version_3          diff <("$WARPGRIND" report three.wg 2>&1 | sed 's/three/first/') \
  "$kept/report.txt"
check version_3_sql      diff <("$WARPGRIND" sql three.wg 'select * from access') "$kept/access.txt"
check version_3_empty    [ "$("$WARPGRIND" sql three.wg 'select count(*) from step_after' |
  tail -n 1)" = 0 ]
