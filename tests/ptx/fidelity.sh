#!/bin/sh
# fidelity.sh TOOL FILE.ptx…: PTX printed again with every register and label renamed must assemble to the same code.
# TOOL is a program that prints renamed PTX when called as: TOOL --rename FILE
# The architecture is the file's own .target. Prints one line per failure and a summary; exit code 1 on any failure.
# Without arguments: the command itself, on all the PTX that is kept in the tree.
here=$(dirname "$0")
if [ $# = 0 ]; then
  command -v ptxas > /dev/null || { echo "ptxas is not installed"; exit 77; }
  set -- "$WARPGRIND ptx" examples/*/ptx/*.ptx bench/ptx/*.ptx
fi
tool=$1
shift
work=$(mktemp -d) || exit 125
trap 'rm -rf "$work"' EXIT
same=0 different=0 skipped=0
for file in "$@"; do
  arch=$(sed -n 's/^\.target *\(sm_[0-9]*[af]*\).*/\1/p' "$file" | head -1)
  debug=
  grep -q '^\.target.*debug' "$file" && debug=-g
  if ! ptxas -c $debug -arch="$arch" "$file" -o "$work/a.cubin" >"$work/log" 2>&1; then
    echo "skipped $file: ptxas does not accept it: $(grep -m1 -i error "$work/log")"
    skipped=$((skipped + 1))
    continue
  fi
  if ! $tool --rename "$file" >"$work/b.ptx" 2>"$work/log"; then
    echo "FAILED $file: $(head -3 "$work/log")"
    different=$((different + 1))
    continue
  fi
  if ! ptxas -c $debug -arch="$arch" "$work/b.ptx" -o "$work/b.cubin" >"$work/log" 2>&1; then
    echo "FAILED $file: ptxas on the new text: $(head -2 "$work/log")"
    different=$((different + 1))
    continue
  fi
  if ! why=$(python3 "$here/same_code.py" "$work/a.cubin" "$work/b.cubin"); then
    echo "FAILED $file: $why"
    different=$((different + 1))
    continue
  fi
  same=$((same + 1))
done
echo "fidelity: $same the same, $different different, $skipped skipped"
[ "$different" = 0 ] && [ "$same" != 0 ]
