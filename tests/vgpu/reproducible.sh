#!/bin/bash
# --workers=1 runs the same way every time; --seed=N shuffles blocks and warps, the same way for the
# same N.
set -eu
. tests/lib/steps.sh
host=$(ptxhost)
order() { "$WARPGRIND" --device=cpu --tool=none -q "$@" -- "$host" tests/vgpu/order/draw.ptx; }
check() { if [ "$2" "$3" "$4" ]; then echo "ok $1"; else echo "FAIL $1"; fi; }
plain=$(order --workers=1) seed3=$(order --workers=1 --seed=3) seed4=$(order --workers=1 --seed=4)
check in_order_without_seed "$plain" = "$(seq 0 255)"
check same_again "$plain" = "$(order --workers=1)"
check same_seed_same_order "$seed3" = "$(order --workers=1 --seed=3)"
check seed_shuffles "$seed3" != "$plain"
check seeds_differ "$seed3" != "$seed4"
check every_warp_once "$(sort -n <<< "$seed3")" = "$(seq 0 255)"
