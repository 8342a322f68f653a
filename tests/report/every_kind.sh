#!/usr/bin/env bash
# quick: yes
# Every kind of the table, with all that it carries: text, JSON, SARIF and JUnit of the run are
# those of its run file.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/session.sh
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
# shellcheck disable=SC2086
$CC -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers $san \
  -pthread -Isrc -Itests/channel -o "$TEST_DIR/every_kind" tests/report/every_kind.c \
  "${SESSION_OBJS[@]}" || { echo "FAIL every_kind: does not compile"; exit 1; }
cd "$TEST_DIR" || exit 1
golden=$ROOT/tests/report

check examples       eval './every_kind list > table'
# Run files hold these names, device records these numbers: lines are only ever added.
cut -d' ' -f1,2 table > numbers
check numbers        diff -u "$golden/kinds.numbers" numbers

check live           [ "$(code "$WARPGRIND" --device=cpu --tool=count --json=live.json \
  --sarif=live.sarif --junit=live.xml -o run.wg ./every_kind)" = 99 ]
cp err live
check report         [ "$(code "$WARPGRIND" report --json=file.json --sarif=file.sarif \
  --junit=file.xml run.wg)" = 0 ]
check text           diff -u live err
for format in json sarif xml; do
  check "$format"    cmp live.$format file.$format
done

column() {
  "$WARPGRIND" sql run.wg \
    "SELECT count(*) FROM finding f JOIN site s ON s.id = f.$2 WHERE f.kind = '$1'" 2> /dev/null |
    grep -o '[0-9]\+' | tail -n 1
}
while read -r _ kind origin source; do
  [ "$kind" != uninit-store ] || continue                # explains an uninit-use
  check "kind_$kind" grep -q "($kind)" live
  [ "$origin" = 0 ] || check "origin_$kind" [ "$(column "$kind" extra1)" -ge 1 ]
  [ "$source" = 0 ] || check "source_$kind" [ "$(column "$kind" extra2)" -ge 1 ]
done < table
# what an uninit-store explains: where the copied value was read, and whose memory that was
check explained      [ "$(grep -A 12 'values that were never written' live |
  grep -c '  read at\|  from memory that malloc returned at')" = 2 ]
