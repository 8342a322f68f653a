#!/usr/bin/env bash
# timeout: 300
# docs/new-subcommand.md, followed: the subcommand runs, and help, manual page, completion and
# errors know it.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/lesson.sh
# Rows at the end change no other number of the table: only what goes over all of it is compiled
# again.
follow_lesson docs/new-subcommand.md cli/subcommand.o cli/subcommand_arguments.o cli/complete.o \
  cli/help.o cli/man.o || { echo "FAIL build"; exit 1; }
d=$TEST_DIR w=$tree/$tree_build/warpgrind
mkdir "$d/run"
WARPGRIND=$w TEST_DIR=$d/run bash "$tree/tests/cli/kernels.sh"
check help        grep -q '^  --most=N ' <("$w" help kernels)
check listed      grep -q '^  kernels FILE ' <("$w" --help)
check man         grep -q '^.SS kernels' <("$w" --man)
check completion  grep -q '^--most=' <("$w" complete-words kernels --m)
check suggestion  [ "$(code "$w" kernels --mots=3 run.wg)" = 125 ]
check said        has "$d/err" 'did you mean --most?'
