# Sourced by test scripts: what the annotations of a test program say (docs/testing.md).
# setting KEY [FILE]: the first value of a key; settings: all of them, one a line. FILE is
# $TEST_FILE.
annotations_awk=$(cd "${BASH_SOURCE[0]%/*}" && pwd)/annotations.awk
setting() { awk -f "$annotations_awk" -v only="$1" -v first=1 "${2:-$TEST_FILE}"; }
settings() { awk -f "$annotations_awk" -v only="$1" "${2:-$TEST_FILE}"; }
# marked KEY FILE: the values of a key at the ends of lines of code, each after the number of its
# line
marked() { awk -f "$annotations_awk" "$2" |
  awk -F'\t' -v key="$1" '$1 > 0 && $2 == key { print $1, $3 }'; }
# line_of LABEL FILE: the line that `label: LABEL` marks; all of them where there are several
line_of() { marked label "$2" |
  awk -v label="$1" '{ line = $1; sub(/^[0-9]+ /, "") } $0 == label { print line }'; }
