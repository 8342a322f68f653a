#!/usr/bin/env bash
# PTX printed again, with every register and label renamed, assembles to the same code, attributes
# and constants. Without arguments: for everything nvcc makes of src/*.cu. With arguments: for those
# PTX files, whatever they hold.
#   fidelity.sh [FILE.ptx…]
# WARPGRIND: the command to test; FIDELITY_OPTIONS: its options (--rename)
# timeout: 1800
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/annotations.sh"
WARPGRIND=${WARPGRIND:-$here/../../build/warpgrind}
options=${FIDELITY_OPTIONS:---rename}
work=${TEST_DIR:-$(mktemp -d)}
command -v ptxas > /dev/null || { echo "ptxas is not on the PATH"; exit 77; }

# compare NAME FILE: prints one result line
compare() {
  local name=$1 file=$2 arch debug='' why
  arch=$(sed -n 's/^\.target *\(sm_[0-9]*[af]*\).*/\1/p' "$file" | head -n 1)
  grep -q '^\.target.*debug' "$file" && debug=-g
  # ptxas can make no code for architectures it has forgotten, nor for what is not PTX.
  if ! ptxas -c $debug -arch="$arch" -o "$work/a.cubin" "$file" > "$work/log" 2>&1; then
    echo "skip $name: ptxas does not take it: $(grep -m 1 -iE 'error|fatal' "$work/log")"
  elif ! $WARPGRIND ptx $options "$file" > "$work/b.ptx" 2> "$work/log"; then
    echo "FAIL $name: $(head -n 3 "$work/log")"
  elif ! ptxas -c $debug -arch="$arch" -o "$work/b.cubin" "$work/b.ptx" > "$work/log" 2>&1; then
    echo "FAIL $name: ptxas refuses the new text: $(head -n 2 "$work/log")"
  elif ! why=$(python3 "$here/same_code.py" "$work/a.cubin" "$work/b.cubin"); then
    echo "FAIL $name: $why"
  else
    echo "ok $name"
  fi
}

if [ $# != 0 ]; then
  for file in "$@"; do compare "$file" "$file"; done | tee "$work/results" | grep -v '^ok '
  echo "$(grep -c '^ok ' "$work/results") the same, $(grep -c '^FAIL ' \
    "$work/results") different, $(grep -c '^skip ' "$work/results") skipped"
  ! grep -q '^FAIL ' "$work/results"
  exit
fi

command -v nvcc > /dev/null || { echo "nvcc is not on the PATH"; exit 77; }
known=$(nvcc --list-gpu-arch)
# Each source for one or two targets; together they meet every architecture and every way to
# compile.
targets=("75 -O3" "80 -lineinfo" "90 -G" "100 -O3" "90 -O3 -use_fast_math" "80 -G" "90a -lineinfo" \
  "100 -G" "75 -lineinfo" "90 -O0")
turn=0
for source in "$here"/src/*.cu; do
  name=$(basename "$source" .cu)
  read -ra only <<< "$(setting arch "$source")"
  for round in 0 1; do
    read -r arch flags <<< "${targets[$(( (turn + round * 5) % ${#targets[@]} ))]}"
    [ ${#only[@]} != 0 ] && arch=${only[$round]:-${only[0]}}
    case $known in *compute_${arch%[af]}*) ;;
      *) echo "skip $name $arch: this nvcc does not know it"; continue ;; esac
    # shellcheck disable=SC2086
    if nvcc -w -std=c++17 -arch="compute_$arch" $flags -ptx -o "$work/$name.ptx" "$source" > \
      "$work/log" 2>&1; then
      compare "$name $arch $flags" "$work/$name.ptx"
    else
      echo "FAIL $name $arch $flags: nvcc: $(grep -m 1 error "$work/log")"
    fi
  done
  turn=$((turn + 1))
done
