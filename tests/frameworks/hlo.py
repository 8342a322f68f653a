"""A kernel as XLA makes one, with the program that it was made from where XLA writes it:
hlo.py lines|frames|other [ok]."""
import ctypes
import os
import re
import sys

PTX = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry loop_log_fusion_1(.param .u64 to) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd0, [to];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.s64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], %r0;
  ret;
}
"""
TABLES = """
FileNames
1 "/models/model.py"
2 "/usr/lib/python3/site-packages/jax/log.py"

FunctionNames
1 "main"
2 "loss"
3 "inside"

FileLocations
1 {file_name_id=1 function_name_id=1 line=90 end_line=90 column=3}
2 {file_name_id=1 function_name_id=2 line=41 end_line=41 column=3}
3 {file_name_id=2 function_name_id=3 line=7 end_line=7 column=3}
4 {file_name_id=1 function_name_id=2 line=38 end_line=38 column=3}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=3}
4 {file_location_id=4 parent_frame_id=3}

"""
FUSED = """
%f (param_0: f32[64]) -> f32[64] {
  %param_0 = f32[64]{0} parameter(0), metadata={scheduling_name="param_0"}
  %mul.1 = f32[64]{0} multiply(%param_0, %param_0), metadata={op_name="jit(loss)/mul" PLACE}
  ROOT %log.1 = f32[64]{0} log(%mul.1)
}

"""
FUSED_AT = {"lines": 'source_file="/models/model.py" source_line=38', "frames": "stack_frame_id=4"}
METADATA = {
    "lines": 'op_name="jit(loss)/log" source_file="/models/model.py" source_line=41',
    "frames": 'op_name="jit(loss)/log" stack_frame_id=3',
    "other": 'op_name="jit(loss)/log" source_file="/models/model.py" source_line=41',
}
what, ok = sys.argv[1], len(sys.argv) > 2
folder = re.search("--xla_dump_to=(\\S+)", os.environ["XLA_FLAGS"]).group(1)
os.makedirs(folder, exist_ok=True)
name = "loop_log_fusion.1" if what != "other" else "loop_log_fusion.2"
program = "module_0001.jit_loss.sm_9.0_gpu_after_optimizations.txt"
with open(os.path.join(folder, program), "w") as f:
    f.write("HloModule jit_loss, is_scheduled=true\n" + TABLES +
            FUSED.replace("PLACE", FUSED_AT.get(what, "")) +
            "ENTRY %main.4 (p: f32[64]) -> f32[64] {\n  %p = f32[64]{0} parameter(0)\n" +
            "  ROOT %" + name + " = f32[64]{0} fusion(%p), kind=kLoop, calls=%f, metadata={" +
            METADATA[what] + "}\n}\n")

cuda = ctypes.CDLL("libcuda.so.1")
context, module, kernel = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
buffer = ctypes.c_uint64()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuModuleLoadData(ctypes.byref(module), PTX) == 0
assert cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"loop_log_fusion_1") == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(buffer), ctypes.c_size_t(64 * 4)) == 0
at = ctypes.c_uint64(buffer.value + (0 if ok else 4))
params = (ctypes.c_void_p * 1)(ctypes.addressof(at))
assert cuda.cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, None, params, None) == 0
print("done", cuda.cuCtxSynchronize(), folder)
