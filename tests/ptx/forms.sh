#!/usr/bin/env bash
# quick: yes
# Each line of forms/*.txt is an instruction that the verifier must take ("ok") or refuse ("bad"),
# as ptxas does. With ptxas on the PATH, it is asked too about those that must be taken.
set -u
cd "$(dirname "$0")/forms" || exit 1
WARPGRIND=${WARPGRIND:-../../../build/warpgrind}
work=${TEST_DIR:-$(mktemp -d)}

# kernel NAME VERSION INSTRUCTION…: with registers of every type
kernel() {
  echo ".visible .entry $1(.param .u64 pp) { .local .align 16 .b8 lo[64];"
  echo '.reg .pred p, q; .reg .b8 %c<9>; .reg .b16 %h<9>; .reg .u16 %uh<4>; .reg .b32 %r<99>; '\
'.reg .u32 %u<9>; .reg .s32 %s<9>;'
  echo '.reg .f32 %f<99>; .reg .b64 %l<9>; .reg .u64 %ul<4>; .reg .s64 %sl<4>; .reg .f64 %d<9>; '\
'.reg .f16 %hf<9>; .reg .f16x2 %hx<9>;'
  case $2 in [89].*) echo '.reg .b128 %q<4>;' ;; esac
  shift 2
  printf '%s\n' "$@" 'ret; }'
}

# module TARGET VERSION INSTRUCTION…; one kernel cannot use both .cta_group::1 and .cta_group::2
module() {
  local target=$1 version=$2 line single=() pair=()
  shift 2
  for line in "$@"; do
    case $line in *.cta_group::2*) pair+=("$line") ;; *) single+=("$line") ;; esac
  done
  printf '.version %s\n.target %s\n.address_size 64\n' "$version" "$target"
  echo '.global .align 16 .b8 gv[256]; .global .texref tx; .global .surfref sf; .extern .shared '\
'.align 16 .b8 sh[];'
  kernel k "$version" "${single[@]}"
  kernel k2 "$version" "${pair[@]}"
}

for list in *.txt; do
  name=${list%.txt}
  target=$(sed -n 's/^# target \([^,]*\), version.*/\1/p' "$list") \
    version=$(sed -n 's/.*, version //p' "$list")
  mapfile -t good < <(sed -n 's/^ok //p' "$list")
  mapfile -t bad < <(sed -n 's/^bad //p' "$list")
  module "$target" "$version" "${good[@]}" > "$work/$name.ptx"
  if ! "$WARPGRIND" ptx --check "$work/$name.ptx" > "$work/log" 2>&1; then
    echo "FAIL $name: $(head -n 3 "$work/log")"
  elif [ ${#good[@]} = 0 ]; then
    echo "FAIL $name: no instructions"
  else
    echo "ok $name: ${#good[@]} instructions taken"
  fi
  taken=0
  for i in "${!bad[@]}"; do
    module "$target" "$version" "${bad[$i]}" > "$work/bad.ptx"
    if "$WARPGRIND" ptx --check "$work/bad.ptx" > /dev/null 2>&1; then
      echo "FAIL $name: takes ${bad[$i]}"; taken=1
    fi
  done
  [ $taken = 0 ] && [ ${#bad[@]} != 0 ] && echo "ok $name: ${#bad[@]} instructions refused"
  if ! command -v ptxas > /dev/null; then
    echo "skip $name: ptxas is not on the PATH"
  elif ! ptxas --help | grep -q "'$target'"; then
    echo "skip $name: this ptxas does not know $target"
  elif ptxas -c -arch="$target" -o "$work/out" "$work/$name.ptx" > "$work/log" 2>&1; then
    echo "ok $name: ptxas agrees"
  elif grep -q 'error' "$work/log"; then
    echo "FAIL $name: ptxas: $(grep -m 2 error "$work/log")"
  fi
done
