#!/usr/bin/env bash
# quick: yes
# warpgrind ptx, image and version: what they print and their exit codes.
set -u
. tests/lib/check.sh
w=$WARPGRIND d=$TEST_DIR ptx=examples/merge_sort/ptx/merge_sort.ptx seeds=tests/fuzz/seeds

check ptx_check           [ "$(code "$w" ptx --check $ptx)" = 0 ]
check ptx_check_silent    [ ! -s "$d/out" ]
check ptx_print           [ "$(code "$w" ptx $ptx)" = 0 ]
cp "$d/out" "$d/again.ptx"
check ptx_printed_parses  [ "$(code "$w" ptx "$d/again.ptx")" = 0 ]
check ptx_print_is_stable cmp "$d/out" "$d/again.ptx"
check ptx_rename          [ "$(code "$w" ptx --rename $ptx)" = 0 ]
check ptx_contract        [ \
  "$(code "$w" ptx --contract --check examples/denoising/ptx/denoising.ptx)" = 0 ]
for stage in cfg dom loops live uniform contract; do
  check "ptx_dump_$stage" [ "$(code "$w" ptx --dump=$stage $ptx)" = 0 ]
  check "ptx_dump_${stage}_says" grep -q "^$stage" "$d/out"
done
check ptx_dump_loop       grep -q 'header B3' <("$w" ptx --dump=loops $ptx)
check ptx_dump_unknown    [ "$(code "$w" ptx --dump=nothing $ptx)" = 125 ]
check ptx_unknown_option  [ "$(code "$w" ptx --frobnicate $ptx)" = 125 ]
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { add.s32 %%r1, %%r2; '\
'}\n' > "$d/bad.ptx"
check ptx_error           [ "$(code "$w" ptx "$d/bad.ptx")" = 125 ]
check ptx_error_place     has "$d/err" 'bad.ptx:4:31: error:'
check ptx_error_caret     grep -qE '^ +\^' "$d/err"
check ptx_no_file         [ "$(code "$w" ptx "$d/no-such-file")" = 125 ]
check ptx_in_a_fatbin     [ "$(code "$w" ptx --check $seeds/fatbin/size.fatbin)" = 0 ]
check ptx_not_in_a_file   [ "$(code "$w" ptx /bin/true)" = 125 ]

check image_list          [ "$(code "$w" image $seeds/fatbin/*.fatbin $seeds/cubin/*.cubin)" = 0 ]
check image_kernel        has "$d/out" 'kernel seed'
check image_extract       [ "$(code "$w" image --extract="$d/x" $seeds/fatbin/balance.fatbin)" = 0 ]
check image_extracted     [ "$(code "$w" ptx --check "$d/x/2.compute_90.ptx")" = 0 ]
check image_cubin         [ "$(code "$w" image "$d/x/1.sm_90.cubin")" = 0 ]
check image_no_cuda       [ "$(code "$w" image /bin/true)" = 125 ]
head -c 100 $seeds/fatbin/none.fatbin > "$d/cut.fatbin"
check image_truncated     [ "$(code "$w" image "$d/cut.fatbin")" = 125 ]
check image_no_file       [ "$(code "$w" image "$d/no-such-file")" = 125 ]
check version             grep -q '^warpgrind [0-9]' <("$w" version)
