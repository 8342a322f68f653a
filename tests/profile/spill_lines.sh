#!/usr/bin/env bash
# Lines of spills, by a stand-in for nvdisasm, which is not installed with every nvcc.
set -u
. tests/lib/check.sh
for program in nvcc ptxas; do
  command -v $program > /dev/null || { echo "$program is not installed"; exit 77; }
done
d=$TEST_DIR
tests/lib/nvcc -w -g -O3 -lineinfo -gencode "arch=compute_90,code=[compute_90,sm_90]" \
  -o "$d/spills" tests/profile/programs/spills.cu || exit 1
mkdir -p "$d/bin"
cat > "$d/bin/nvdisasm" <<'END'
#!/usr/bin/env bash
[ "$1 $2" = "-g -c" ] && [ -s "$3" ] || exit 1
cat <<'CODE'
//--------------------- .text._Z3mixPfPKfi        --------------------------
	.section	.text._Z3mixPfPKfi,"ax",@progbits
.text._Z3mixPfPKfi:
	//## File "/src/spills.cu", line 9
        /*0000*/                   LDG.E R4, desc[UR4][R2.64] ;
        /*0010*/                   STL [R1+0x8], R4 ;
        /*0020*/                   STL.64 [R1+0x10], R6 ;
	//## File "/src/spills.cu", line 12
        /*0030*/                   LDL.LU R4, [R1+0x8] ;
	//## File "/src/spills.cu", line 14
        /*0040*/                   FFMA R4, R4, R5, R6 ;
CODE
END
chmod +x "$d/bin/nvdisasm"
PATH=$d/bin:$PATH "$WARPGRIND" profile --device=cpu --json="$d/json" "$d/spills" > "$d/out" 2>&1
check lines grep -q 'most of them at spills.cu:9 (12 bytes), spills.cu:12 (4 bytes)$' "$d/out"
check in_json python3 -c 'import json, sys
a = json.load(open(sys.argv[1]))["advice"][0]
assert a["rule"] == "spill" and "spills.cu:9 (12 bytes)" in a["evidence"], a' "$d/json"
