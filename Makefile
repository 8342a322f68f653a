# Warpgrind. `make demo` and `make check` are all a newcomer needs; `make help` lists the rest.
#
# Every folder src/<name>/ is found by globbing; adding a .c file needs no change here.

VERSION := 0.1.0
# No built-in rules: looking for them took three quarters of the time of a `make` that has nothing
# to do, and tests call make often.
MAKEFLAGS += -r

ifeq ($(origin CC),default)
CC := gcc
endif
ARCH := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
IS_CLANG := $(findstring clang,$(shell $(CC) --version 2>/dev/null))

# A sanitizer build lives in its own folder so that it never mixes with the ordinary one.
SAN ?= 0
ifeq ($(SAN),0)
BUILD ?= build
else
BUILD ?= build-san
SAN_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer \
  $(if $(IS_CLANG),-shared-libasan)
SAN_RUNTIME := $(shell $(CC) -print-file-name=$(if \
  $(IS_CLANG),libclang_rt.asan-$(ARCH).so,libasan.so))
SAN_DEFINES := -DWARPGRIND_SANITIZER_RUNTIME='"$(SAN_RUNTIME)"'
endif

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_INPUTS ?= 10000
FUZZ_SECONDS ?= 20
ifneq ($(origin SECONDS),environment)
ifdef SECONDS
FUZZ_SECONDS := $(SECONDS)
endif
endif

# --- flags: one variable for each kind of file ---
OPT ?= -O2
BASE_CFLAGS := -std=gnu11 -g -Wall -Wextra -Wno-unused-parameter -fPIC -fvisibility=hidden \
  -DWARPGRIND_LIBRARY -pthread -MMD -MP -Isrc \
  -DWARPGRIND_VERSION='"$(VERSION)"' $(SAN_FLAGS) $(SAN_DEFINES)
CFLAGS_ALL   := $(BASE_CFLAGS) $(OPT) $(CFLAGS)
# The execute functions: the vectorizer at work, with IEEE results kept (never -ffast-math).
CFLAGS_EXEC  := $(BASE_CFLAGS) -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math $(CFLAGS)
# Names of variants in which src/vgpu/exec/*.c are compiled besides the baseline; each is compiled
# with -DVGPU_ISA=<name> and the flags below.
ifeq ($(ARCH),x86_64)
EXEC_VARIANTS ?= v3 v4
CFLAGS_ALL    += -DVGPU_LEVELS
endif
EXEC_FLAGS_v3 := -march=x86-64-v3
EXEC_FLAGS_v4 := -march=x86-64-v4 -mprefer-vector-width=512

# Static archives of third-party libraries are preferred: a preloaded library must not drag others
# into the process.
find-lib = $(if $(findstring /,$(shell $(CC) -print-file-name=lib$(1).a)),$(shell $(CC) \
  -print-file-name=lib$(1).a),-l$(1))
THIRD_PARTY = $(call find-lib,zstd) $(call find-lib,lz4)
LDLIBS_ALL = $(THIRD_PARTY) -lm -ldl -lrt -pthread $(LDFLAGS)
# For the command only: SQLite; elfutils, and what its archive refers to.
SQLITE_LIBS = $(call find-lib,sqlite3) $(call find-lib,z)
SYMBOL_LIBS = $(if $(findstring /,$(call find-lib,dw)),$(foreach l,dw elf z lzma bz2 \
  zstd,$(call find-lib,$(l))),-ldw -lelf)

# --- sources ---
FOLDERS     := $(notdir $(patsubst %/,%,$(wildcard src/*/)))
# Device code is compiled to PTX; everything else of src/tools/<tool>/ belongs to the folder
# src/tools, as the folders inside src/gpu, src/trace and src/vgpu belong to theirs.
WITH_FOLDERS := gpu tools trace vgpu
DEVICE_SRC  := $(sort $(wildcard src/probe/*.c src/tools/*/probe*.c src/closed/patches.c))
# A tool's half inside the command, report*.c, needs run/ and report/: nothing but the command links
# it.
REPORT_SRC  := $(sort $(wildcard src/tools/report*.c src/tools/*/report*.c))
REPORT_OBJS := $(patsubst src/tools/%.c,$(BUILD)/obj/tool_reports/%.o,$(REPORT_SRC))
folder-src   = $(filter-out $(DEVICE_SRC) $(REPORT_SRC),$(sort $(wildcard src/$(1)/*.c \
  src/$(1)/*.S $(if $(filter $(WITH_FOLDERS),$(1)),src/$(1)/*/*.c))))
folder-objs  = $(patsubst src/%,$(BUILD)/obj/%.o,$(basename $(call folder-src,$(1))))
EXEC_SRC    := $(sort $(wildcard src/vgpu/exec/*.c))
VARIANT_OBJS := $(foreach v,$(EXEC_VARIANTS),$(patsubst src/%.c,$(BUILD)/obj/%.$(v).o,$(EXEC_SRC)))

CMD_FOLDERS := base ptx ir image sass weave interrupt tools channel store trace run symbol report \
  diff view cli
LIB_FOLDERS := base ptx ir image sass weave interrupt tools channel where session jit vgpu driver \
  runtime closed gpu opencl_code preload
# The parts of runtime/ and gpu/ that inspect a program and search for a driver before the program
# starts. A tool's half inside the program, host*.c, needs the session, which the command does not
# have.
TOOL_HOST_OBJS := $(patsubst src/%.c,$(BUILD)/obj/%.o,$(wildcard src/tools/host.c \
  src/tools/*/host*.c))
CMD_OBJS := $(filter-out $(TOOL_HOST_OBJS),$(foreach f,$(CMD_FOLDERS),$(call folder-objs,$(f)))) \
  $(patsubst src/%.c,$(BUILD)/obj/%.o,$(wildcard src/runtime/check_executable.c src/gpu/find.c))
LIB_OBJS := $(foreach f,$(LIB_FOLDERS),$(call folder-objs,$(f))) $(VARIANT_OBJS)
PROBE_OBJ := $(BUILD)/obj/probe/embedded.o
# Kernels of our own, for a real GPU only.
KERNEL_SRC := $(sort $(wildcard src/probe/*.cu src/tools/*/*.cu src/interrupt/*.cu))
KERNEL_OBJS := $(patsubst %.cu,$(BUILD)/obj/probe/%.o,$(notdir $(KERNEL_SRC)))
PAGE_OBJ := $(BUILD)/obj/view/page_files.o
CMD_OBJS += $(PROBE_OBJ) $(PAGE_OBJ) $(REPORT_OBJS)
LIB_OBJS += $(PROBE_OBJ) $(KERNEL_OBJS)
ALL_OBJS := $(sort $(foreach f,$(FOLDERS),$(call folder-objs,$(f))) $(VARIANT_OBJS) $(REPORT_OBJS))
# An object whose source is gone must not be linked again: some tests take all objects of a folder.
STALE_OBJS := $(filter-out $(ALL_OBJS) $(PROBE_OBJ) $(BUILD)/obj/closed/code.o $(KERNEL_OBJS) \
  $(BUILD)/obj/opencl/library_text.o \
  $(PAGE_OBJ),$(wildcard $(BUILD)/obj/*/*.o $(BUILD)/obj/*/*/*.o))
$(if $(STALE_OBJS),$(shell rm -f $(STALE_OBJS)))
SHIM_SRC := $(sort $(wildcard src/runtime/shim/*.[cS]))
SHIMS    := $(if $(SHIM_SRC),$(BUILD)/lib/cpu/libcudart.so.12 $(BUILD)/lib/cpu/libcudart.so.13)

# CUDA's mathematical libraries on the virtual device (docs/libraries.md), and the numbers at the
# end of their names in CUDA 12 and 13.
LIBRARY_NUMBERS := cublas:12 cublas:13 cublasLt:12 cublasLt:13 cufft:11 cufft:12 curand:10 \
  cusolver:11 cusolver:12 cusparse:12
library-src = $(sort $(wildcard src/libraries/common/*.c src/libraries/$(1)/*.c))
library-objs = $(patsubst src/%.c,$(BUILD)/%.o,$(filter-out %/version.c,$(call library-src,$(1))))
library-file = $(BUILD)/lib/cpu/lib$(subst :,.so.,$(1))
OPENBLAS := $(wildcard $(shell $(CC) -print-file-name=openblas-serial/libopenblas.a))
LIBRARIES := $(foreach l,$(LIBRARY_NUMBERS),$(call library-file,$(l))) \
  $(if $(OPENBLAS),$(BUILD)/lib/cpu/libwarpgrind-blas.so)

.PHONY: format all demo check check-quick check-long check-gpu bench stress fuzz soak install \
  uninstall clean help deps
.SECONDARY:

# The OpenCL platform and the file by which OpenCL's loader finds it; without the headers of OpenCL
# everything else is built.
OPENCL_LIB := $(if $(shell printf '\043include <CL/cl_icd.h>' | $(CC) -E -x c - 2>/dev/null | \
  head -n 1),$(addprefix $(BUILD)/lib/,libwarpgrind_opencl.so libwarpgrind_opencl_layer.so \
  opencl/warpgrind.icd opencl/libOpenCL.so.1 opencl/libOpenCL.so))

all: $(BUILD)/warpgrind $(BUILD)/lib/libcuda.so.1 $(BUILD)/lib/libcuda.so \
  $(BUILD)/lib/libwarpgrind.so $(OPENCL_LIB) \
  $(BUILD)/lib/warpgrind_sqlite.so $(SHIMS) $(LIBRARIES) $(BUILD)/warpgrind.1 \
  $(BUILD)/lib/warpgrind-jit $(BUILD)/lib/python/sitecustomize.py

# --- compiling ---
# Short lines; V=1 shows the commands. A list of headers replaces the last one only when the object
# is complete: a compile that was killed must not leave an object whose headers are unknown.
say = @$(if $(V),set -x;,echo "  $(1)  $@";)
# Objects depend on this file, which changes only when the compiler or its flags do.
FLAGS_TEXT := $(CC) | $(CFLAGS_ALL) | $(CFLAGS_EXEC) | $(EXEC_FLAGS_v3) | $(EXEC_FLAGS_v4)
$(BUILD)/flags: FORCE
	@mkdir -p $(BUILD)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_TEXT))' | cmp -s - $@ || printf '%s\n' \
	  '$(subst ','\'',$(FLAGS_TEXT))' > $@
.PHONY: FORCE
FORCE:

# The build folder may be given with and without the path to it; a list of headers holds for both
# names of an object.
both-names = -MT $(abspath $1) -MT $(patsubst $(CURDIR)/%,%,$(abspath $1))

$(BUILD)/obj/vgpu/exec/%.o: src/vgpu/exec/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC  ) $(CC) $(CFLAGS_EXEC) $(call both-names,$@) -MF $@.d -c -o $@ $< && mv \
	  $@.d $(@:.o=.d)

define variant-rule
$(BUILD)/obj/vgpu/exec/%.$(1).o: src/vgpu/exec/%.c $(BUILD)/flags
	@mkdir -p $$(@D)
	$$(call say,CC  ) $(CC) $(CFLAGS_EXEC) $(EXEC_FLAGS_$(1)) -DVGPU_ISA=$(1) \
	  $$(call both-names,$$@) -MF $$@.d -c -o $$@ $$< && mv $$@.d $$(@:.o=.d)
endef
$(foreach v,$(EXEC_VARIANTS),$(eval $(call variant-rule,$(v))))

TOOL_TABLES := $(addprefix $(BUILD)/gen/tool_,options.def diffs.def recorded_races.def)
$(BUILD)/obj/%.o: src/%.c $(BUILD)/flags | $(TOOL_TABLES)
	@mkdir -p $(@D)
	$(call say,CC  ) $(CC) $(CFLAGS_ALL) -I$(BUILD)/gen $(call both-names,$@) -MF $@.d -c -o $@ $< && \
	  mv $@.d $(@:.o=.d)

$(BUILD)/obj/tool_reports/%.o: src/tools/%.c $(BUILD)/flags | $(TOOL_TABLES)
	@mkdir -p $(@D)
	$(call say,CC  ) $(CC) $(CFLAGS_ALL) -I$(BUILD)/gen $(call both-names,$@) -MF $@.d -c -o $@ $< && \
	  mv $@.d $(@:.o=.d)

$(BUILD)/obj/%.o: src/%.S $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,AS  ) $(CC) $(CFLAGS_ALL) $(call both-names,$@) -MF $@.d -c -o $@ $< && mv $@.d \
	  $(@:.o=.d)

# Every kinds.def, with the folder it is in: the table of all kinds of finding. The file changes
# only when the list does.
KIND_TABLES := $(sort $(wildcard src/*/kinds.def src/tools/*/kinds.def))
$(BUILD)/gen/all_kinds.def: FORCE
	@mkdir -p $(@D)
	@printf '#define KIND_OWNER "%s"\n#include "%s"\n#undef KIND_OWNER\n' \
	  $(foreach t,$(KIND_TABLES),$(notdir $(patsubst %/,%,$(dir $(t)))) $(t:src/%=%)) > $@.new
	@cmp -s $@.new $@ || cp $@.new $@
# The tools that have a half inside the command.
$(BUILD)/gen/all_reports.def: FORCE
	@mkdir -p $(@D)
	@printf 'TOOL_REPORT(%s)\n' \
	  $(notdir $(patsubst %/,%,$(dir $(wildcard src/tools/*/report.c)))) > $@.new
	@cmp -s $@.new $@ || cp $@.new $@
# Other tables of tools: their options, what `warpgrind diff` compares of their findings, and their
# names for the races of a recording.
$(BUILD)/gen/tool_%s.def: FORCE
	@mkdir -p $(@D)
	@printf '#include "%s"\n' \
	  $(patsubst src/%,%,$(sort $(wildcard src/tools/*/$*.def src/tools/*/$*s.def))) > $@.new
	@cmp -s $@.new $@ || cp $@.new $@
$(BUILD)/obj/tools/kinds.o: $(BUILD)/gen/all_kinds.def
$(BUILD)/obj/tool_reports/report.o: $(BUILD)/gen/all_reports.def
$(BUILD)/obj/base/options.o: $(BUILD)/gen/tool_options.def
$(BUILD)/obj/trace/order/races.o: $(BUILD)/gen/tool_recorded_races.def

# Device code: the C files of src/probe/ and src/tools/*/probe*.c as one PTX text, put into the
# library and the command as it is.
PROBE_CC ?= clang
PROBE_FLAGS := --target=nvptx64-nvidia-cuda -march=sm_70 -Xclang -target-feature -Xclang +ptx70 \
  -Xclang -fconvergent-functions \
  -ffreestanding -O2 -fno-unroll-loops -Wall -Wextra -Isrc -I$(BUILD)/gen
$(BUILD)/gen/probe.ptx: $(filter-out src/closed/%,$(DEVICE_SRC)) $(sort $(wildcard src/probe/*.h \
  src/probe/*.def src/tools/*.h src/tools/*.def src/tools/*/*.h src/tools/*/*.def)) $(KIND_TABLES) \
  $(BUILD)/gen/all_kinds.def
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(patsubst src/%,%,$(filter %.c,$^)) > $(@:.ptx=.c)
	$(call say,PTX ) $(PROBE_CC) $(PROBE_FLAGS) -S -o $@.new $(@:.ptx=.c) && mv $@.new $@

$(PROBE_OBJ): $(BUILD)/gen/probe.ptx $(BUILD)/flags
	@mkdir -p $(@D)
	@printf '%s\n' '.section .rodata' '.globl probe_text' '.hidden probe_text' 'probe_text:' \
	  '.incbin "$<"' '.byte 0' '.section .note.GNU-stack,"",%progbits' > $(<:.ptx=.s)
	$(call say,AS  ) $(CC) -c -o $@ $(<:.ptx=.s)

# Patches in machine code: src/closed/patches.c with src/tools/*/patch.h. The driver takes no PTX
# for them, so they are assembled here for the first architecture of each generation; without ptxas
# there are none.
PATCH_SMS ?= 75 80 90 100 110 120
PATCH_HEADERS := $(sort $(wildcard src/tools/*/patch.h))
PATCH_OBJ := $(BUILD)/obj/closed/code.o
LIB_OBJS += $(PATCH_OBJ)
$(BUILD)/gen/patches.ptx: src/closed/patches.c $(PATCH_HEADERS) $(DEVICE_SRC) \
  $(sort $(wildcard src/closed/*.h src/probe/*.h src/tools/*.h src/tools/*.def src/tools/*/*.h)) \
  $(BUILD)/gen/all_kinds.def
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(patsubst src/%,%,$(PATCH_HEADERS)) > $(@D)/all_patches.h
	@printf 'PATCH(%s)\n' $(notdir $(patsubst %/,%,$(dir $(PATCH_HEADERS)))) > $(@D)/all_patches.def
	$(call say,PTX ) $(PROBE_CC) $(PROBE_FLAGS) -S -o $@.new $< && mv $@.new $@

$(PATCH_OBJ): $(BUILD)/gen/patches.ptx tools/embed-patches $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,SASS) tools/embed-patches $< $(BUILD)/gen/patches.s $(PATCH_SMS) && $(CC) -c -o $@ \
	  $(BUILD)/gen/patches.s

# NAME.cu of src/probe/ or src/tools/*/ is the text probe_NAME_text.
KERNEL_FLAGS := -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -Xclang \
  -target-feature -Xclang +ptx70 -O2 -fno-unroll-loops -Wall -Wextra -Wno-unknown-cuda-version -Isrc
vpath %.cu src/probe src/interrupt $(wildcard src/tools/*)
$(BUILD)/gen/%.ptx: %.cu $(sort $(wildcard src/probe/*.h src/tools/*.def src/tools/*/*.h \
  src/interrupt/interrupt_abi.h))
	@mkdir -p $(@D)
	$(call say,PTX ) $(PROBE_CC) $(KERNEL_FLAGS) -S -o $@.new $< && mv $@.new $@

$(KERNEL_OBJS): $(BUILD)/obj/probe/%.o: $(BUILD)/gen/%.ptx $(BUILD)/flags
	@mkdir -p $(@D)
	@printf '%s\n' '.section .rodata' '.globl probe_$*_text' '.hidden probe_$*_text' 'probe_$*_text:' \
	  '.incbin "$<"' '.byte 0' '.section .note.GNU-stack,"",%progbits' > $(<:.ptx=.s)
	$(call say,AS  ) $(CC) -c -o $@ $(<:.ptx=.s)

# The page of `warpgrind view`: viewer/ bundled, put into the command as it is. Without npm, or
# without a network at the first build, it is left out and everything else is built
# (docs/viewer.md).
PAGE_FILES := $(addprefix $(BUILD)/viewer/,index.html app.js app.css)
$(BUILD)/viewer/app.js: $(sort $(shell find viewer -name node_modules -prune -o -type f -print)) \
  tools/build-viewer
	$(call say,PAGE) tools/build-viewer $(BUILD)/viewer

$(PAGE_OBJ): $(BUILD)/viewer/app.js $(BUILD)/flags
	@mkdir -p $(@D)
	@for f in $(PAGE_FILES); do n=view_page_$${f##*.}; \
	  printf '%s\n' ".globl $$n" ".hidden $$n" "$$n:" ".incbin \"$$f\"" \
	    ".globl $${n}_end" ".hidden $${n}_end" "$${n}_end:" '.byte 0'; \
	done > $(BUILD)/gen/page.s
	@printf '.section .note.GNU-stack,"",%%progbits\n' >> $(BUILD)/gen/page.s
	$(call say,AS  ) (echo '.section .rodata'; cat $(BUILD)/gen/page.s) | $(CC) -c -o $@ -x \
	  assembler -

# One folder alone: `make objs-ptx` compiles it, `make lib-ptx` also makes an archive of it for
# small test programs.
print-symbol-libs: ; @echo $(SYMBOL_LIBS)
objs-%: ; @$(if $(call folder-objs,$*),$(MAKE) --no-print-directory -k $(call folder-objs,$*),echo \
  "src/$*: no .c files")
lib-%:  ; @$(MAKE) --no-print-directory $(BUILD)/obj/lib$*.a
define archive-rule
$(BUILD)/obj/lib$(1).a: $(call folder-objs,$(1)) $(if $(filter vgpu,$(1)),$(VARIANT_OBJS)) \
  $(if $(filter weave,$(1)),$(PROBE_OBJ))
	@rm -f $$@
	$$(call say,AR  ) $(AR) rcs $$@ $$^
endef
$(foreach f,$(FOLDERS),$(eval $(call archive-rule,$(f))))
$(BUILD)/obj/libtool_reports.a: $(REPORT_OBJS)
	@rm -f $@
	$(call say,AR  ) $(AR) rcs $@ $^

# prettier of the version that the tests check with: others break lines elsewhere
PRETTIER_VERSION := require("./viewer/package-lock.json").packages["node_modules/prettier"].version
format:
	clang-format -i $(sort $(shell find src -name '*.[ch]'))
	npx --yes "prettier@$$(node -p '$(PRETTIER_VERSION)')" --log-level=warn --write \
	  'viewer/src/**' 'tests/**/*.mjs' 'bench/*.mjs'

# --- products ---
# Linked under a temporary name and renamed, so that running programs keep the old files.
$(BUILD)/warpgrind: $(CMD_OBJS)
	@printf '#include <microhttpd.h>\n' | $(CC) -E -x c - > /dev/null 2>&1 || echo \
	  '  warpgrind view cannot serve: microhttpd.h is missing (Debian: libmicrohttpd-dev)'
	$(call say,LINK) $(CC) $(SAN_FLAGS) -o $@.$$$$ $^ $(SQLITE_LIBS) $(SYMBOL_LIBS) \
	  $(LDLIBS_ALL) && mv $@.$$$$ $@

$(BUILD)/lib/libcuda.so.1: $(LIB_OBJS)
	@mkdir -p $(@D)
	$(call say,LINK) $(CC) $(SAN_FLAGS) -shared -Wl,-soname,libcuda.so.1 -Wl,-z,initfirst \
	  -Wl,-z,lazy \
	  -Wl,--exclude-libs,ALL $(if $(SAN_FLAGS),,-Wl,-z,defs) -o $@.$$$$ $^ $(LDLIBS_ALL) && mv \
	  $@.$$$$ $@

$(BUILD)/lib/libcuda.so: | $(BUILD)/lib/libcuda.so.1
	@ln -sf libcuda.so.1 $@

# For programs that are linked with -lwarpgrind: opens libcuda.so.1 beside it.
LINKED_SRC := $(wildcard src/preload/linked/*.c)
$(BUILD)/lib/libwarpgrind.so: $(LINKED_SRC) $(BUILD)/obj/preload/entry.o $(BUILD)/obj/gpu/find.o \
  $(call folder-objs,base) | $(BUILD)/lib/libcuda.so.1
	$(call say,LINK) $(CC) $(filter-out -MMD -MP,$(CFLAGS_ALL)) -I$(BUILD)/gen -shared \
	  -Wl,-soname,libwarpgrind.so -Wl,--exclude-libs,ALL $(if $(SAN_FLAGS),,-Wl,-z,defs) \
	  -o $@.$$$$ $^ -lm -ldl -pthread && mv $@.$$$$ $@

# The OpenCL platform, an ICD: it calls the exported functions of libcuda.so.1. Its own library for
# kernels, library/*.cl, is a text in it.
# launch.cl comes first: it has the macros that all use
OPENCL_TEXT := src/opencl/library/launch.cl $(filter-out %/launch.cl,$(sort \
  $(wildcard src/opencl/library/*.cl)))
OPENCL_OBJS := $(call folder-objs,opencl) $(BUILD)/obj/opencl/library_text.o
$(BUILD)/obj/opencl/library_text.o: $(OPENCL_TEXT) $(BUILD)/flags
	@mkdir -p $(@D) $(BUILD)/gen
	@cat $(OPENCL_TEXT) > $(BUILD)/gen/opencl_library.cl
	@printf '%s\n' '.section .rodata' '.globl ocl_library_text' '.hidden ocl_library_text' \
	  'ocl_library_text:' '.incbin "$(BUILD)/gen/opencl_library.cl"' '.byte 0' \
	  '.section .note.GNU-stack,"",%progbits' > $(BUILD)/gen/opencl_library.s
	$(call say,AS  ) $(CC) -c -o $@ $(BUILD)/gen/opencl_library.s

$(BUILD)/lib/libwarpgrind_opencl.so: $(OPENCL_OBJS) $(call folder-objs,base) | \
  $(BUILD)/lib/libcuda.so.1
	$(call say,LINK) $(CC) $(SAN_FLAGS) -shared -Wl,-soname,libwarpgrind_opencl.so -Wl,-Bsymbolic \
	  -Wl,--exclude-libs,ALL -Wl,-rpath,'$$ORIGIN' $(if $(SAN_FLAGS),,-Wl,-z,defs) -o $@.$$$$ $^ \
	  -L$(BUILD)/lib -l:libcuda.so.1 -lm -ldl -pthread && mv $@.$$$$ $@

# The layer between a program and any platform.
$(BUILD)/lib/libwarpgrind_opencl_layer.so: $(call folder-objs,opencl_layer) $(call folder-objs,base)
	$(call say,LINK) $(CC) $(SAN_FLAGS) -shared -Wl,-soname,libwarpgrind_opencl_layer.so \
	  -Wl,-Bsymbolic -Wl,--exclude-libs,ALL $(if $(SAN_FLAGS),,-Wl,-z,defs) -o $@.$$$$ $^ \
	  -lm -ldl -pthread && mv $@.$$$$ $@

# The loader that programs find; programs that open it at run time know it by either name.
$(BUILD)/lib/opencl/libOpenCL.so.1: $(call folder-objs,opencl_loader) $(call folder-objs,base) \
  src/opencl_loader/exports.map
	@mkdir -p $(@D)
	$(call say,LINK) $(CC) $(SAN_FLAGS) -shared -Wl,-soname,libOpenCL.so.1 -Wl,-Bsymbolic \
	  -Wl,--version-script=src/opencl_loader/exports.map $(if $(SAN_FLAGS),,-Wl,-z,defs) \
	  -o $@.$$$$ $(filter-out %.map,$^) -lm -ldl -pthread && mv $@.$$$$ $@

$(BUILD)/lib/opencl/libOpenCL.so: $(BUILD)/lib/opencl/libOpenCL.so.1
	@ln -sf libOpenCL.so.1 $@

# Python code that runs first in programs under Warpgrind.
$(BUILD)/lib/python/%.py: src/cli/python/%.py
	@mkdir -p $(@D)
	@cp $< $@

$(BUILD)/lib/opencl/warpgrind.icd:
	@mkdir -p $(@D)
	@echo libwarpgrind_opencl.so > $@

# The compiler of the virtual device, a program of its own. Without LLVM there is none, and kernels
# are interpreted. No sanitizer: it would watch LLVM's memory.
LLVM_CONFIG ?= $(firstword $(foreach v,14 19 18 17 16 15,$(shell command -v llvm-config-$(v))) \
  llvm-config)
JIT_SRC := $(wildcard src/jit/helper/*.c)
$(BUILD)/lib/warpgrind-jit: $(JIT_SRC) $(wildcard src/jit/helper/*.h) src/jit/protocol.h \
  $(BUILD)/flags
	@mkdir -p $(@D)
	@if test -e "$$($(LLVM_CONFIG) --includedir 2> /dev/null)/llvm-c/Core.h"; then \
	  echo "  LINK  $@"; $(CC) -std=gnu11 -O2 -g -Wall -Wextra -Isrc \
	    $$($(LLVM_CONFIG) --cflags) -o $@.$$$$ $(JIT_SRC) $$($(LLVM_CONFIG) --ldflags --libs) \
	    && mv $@.$$$$ $@; \
	else \
	  echo '  --jit cannot compile kernels: llvm-c/Core.h is missing (Debian: llvm-14-dev)'; \
	fi

# Recorded operations for sqlite3 itself (.load): the same sources, with the SQLite of the program
# that loads them.
EXTENSION_SRC := $(wildcard src/store/*.c src/trace/*.c src/trace/*/*.c) \
  $(addprefix src/base/,arena.c check.c \
  clock.c error.c file.c log.c map.c memory.c memory_left.c str.c thread.c)
$(BUILD)/lib/warpgrind_sqlite.so: $(EXTENSION_SRC) $(wildcard src/store/*.h src/trace/*.h \
  src/trace/*/*.h src/base/*.h) src/probe/trace_abi.h $(BUILD)/gen/tool_recorded_races.def \
  $(wildcard src/tools/*/recorded_races.def) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LINK) $(CC) $(filter-out -MMD -MP,$(CFLAGS_ALL)) -I$(BUILD)/gen \
	  -DWARPGRIND_SQLITE_EXTENSION -shared -Wl,--exclude-libs,ALL \
	  $(if $(SAN_FLAGS),,-Wl,-z,defs) -o $@.$$$$ $(EXTENSION_SRC) $(call find-lib,zstd) \
	  -pthread && mv $@.$$$$ $@

# On the virtual device: a shared CUDA runtime for programs that ask for libcudart.so.N where none
# is installed. Its symbols carry the version libcudart.so.N, as the programs expect.
$(BUILD)/lib/cpu/libcudart.so.%: $(SHIM_SRC) $(wildcard src/runtime/*.def src/runtime/shim/*.h) \
  $(BUILD)/flags | $(BUILD)/lib/libcuda.so.1
	@mkdir -p $(@D) $(BUILD)/gen
	@printf 'libcudart.so.%s { global: cuda*; __cuda*; local: *; };\n' $* > \
	  $(BUILD)/gen/cudart$*.map
	$(call say,LINK) $(CC) $(CFLAGS_ALL) -MF $(BUILD)/gen/cudart$*.d -DCUDART_MAJOR=$* -shared \
	  -Wl,-soname,libcudart.so.$* \
	  -Wl,--version-script=$(BUILD)/gen/cudart$*.map -Wl,-rpath,'$$ORIGIN/..' -o $@ \
	  $(SHIM_SRC) \
	  -L$(BUILD)/lib -l:libcuda.so.1

# Its symbols carry the version libcublas.so.N, as programs expect. The objects of a library are the
# same in all versions.
$(BUILD)/libraries/%.o: src/libraries/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC  ) $(CC) $(CFLAGS_ALL) -UWARPGRIND_LIBRARY -ffp-contract=off -fno-math-errno \
	  -Wno-missing-field-initializers $(call both-names,$@) -MF $@.d -c -o $@ $< && mv $@.d $(@:.o=.d)

define library-rule
$(call library-file,$(1):$(2)): $(call library-objs,$(1)) src/libraries/common/version.c \
  | $(BUILD)/lib/libcuda.so.1
	@mkdir -p $$(@D) $(BUILD)/gen
	@printf 'lib$(1).so.$(2) { global: cu*; local: *; };\n' > $(BUILD)/gen/$(1)$(2).map
	$$(call say,LINK) $(CC) $(filter-out -MMD -MP,$(CFLAGS_ALL)) -DLIBRARY_MAJOR=$(2) -shared \
	  -Wl,-soname,lib$(1).so.$(2) -Wl,--version-script=$(BUILD)/gen/$(1)$(2).map \
	  -Wl,-rpath,'$$$$ORIGIN/..' $(if $(SAN_FLAGS),,-Wl,-z,defs) \
	  -o $$@.$$$$$$$$ $(call library-objs,$(1)) \
	  src/libraries/common/version.c -L$(BUILD)/lib -l:libcuda.so.1 -lm -ldl -pthread && mv \
	  $$@.$$$$$$$$ $$@
endef
$(foreach l,$(LIBRARY_NUMBERS),$(eval $(call library-rule,$(word 1,$(subst :, ,$(l))),$(word \
  2,$(subst :, ,$(l))))))

# OpenBLAS without threads, and LAPACK: only the routines of the table, nothing of them exported.
$(BUILD)/lib/cpu/libwarpgrind-blas.so: $(BUILD)/libraries/blas/table.o \
  $(BUILD)/libraries/blas/fortran.o $(OPENBLAS)
	@mkdir -p $(@D)
	$(call say,LINK) $(CC) $(SAN_FLAGS) -shared -Wl,-soname,libwarpgrind-blas.so \
	  -Wl,--exclude-libs,ALL $(if $(SAN_FLAGS),,-Wl,-z,defs) -o $@.$$$$ $^ -lm && mv $@.$$$$ $@

# The virtual device in the role of the real driver, for tests of GPU mode without a GPU.
STANDIN_OBJS = $(filter-out $(BUILD)/obj/base/runstats.o,$(foreach f,base ptx ir image sass weave \
  interrupt tools channel where session jit vgpu driver,$(call folder-objs,$(f)))) \
  $(VARIANT_OBJS) $(PROBE_OBJ) $(KERNEL_OBJS) $(BUILD)/obj/preload/entry.o \
  $(BUILD)/obj/preload/table.o
$(BUILD)/tests/libcuda-standin.so: tests/gpumode/standin.c $(STANDIN_OBJS)
	@mkdir -p $(@D)
	$(call say,LINK) $(CC) $(CFLAGS_ALL) -MF $(BUILD)/gen/standin.d -shared \
	  -Wl,-soname,libcuda-standin.so -Wl,--exclude-libs,ALL \
	  -Wl,--wrap=options_from_environment -Wl,--wrap=channel_attach -Wl,--wrap=ptx_parse \
	  $(if $(SAN_FLAGS),,-Wl,-z,defs) -o $@.$$$$ $^ $(LDLIBS_ALL) && mv $@.$$$$ $@

# Our OpenCL platform over the virtual device in the role of an installed one whose code is PTX.
comma := ,
STANDIN_OPENCL_WRAPS := options_from_environment channel_attach ptx_parse clGetDeviceInfo \
  clGetProgramInfo clCreateProgramWithBinary clSetKernelArg cuLaunchKernel
$(BUILD)/tests/libopencl-standin.so: tests/opencl/installed/standin.c tests/gpumode/standin.c \
  $(OPENCL_OBJS) $(STANDIN_OBJS)
	@mkdir -p $(@D)
	$(call say,LINK) $(CC) $(filter-out -MMD -MP,$(CFLAGS_ALL)) -shared \
	  -Wl,-soname,libopencl-standin.so -Wl,-Bsymbolic -Wl,--exclude-libs,ALL \
	  $(addprefix -Wl$(comma)--wrap=,$(STANDIN_OPENCL_WRAPS)) \
	  $(if $(SAN_FLAGS),,-Wl,-z,defs) -o $@.$$$$ $^ $(LDLIBS_ALL) && mv $@.$$$$ $@

# Our CUDA runtime on top of the exported driver functions, for GPU mode with the stand-in: NVIDIA's
# does not run on that.
PROXY_RUNTIME_SRC := $(filter-out $(addprefix src/runtime/,redirect.c loader.c patch.c patch_%.c \
  library_services.c check_executable.c),$(wildcard src/runtime/*.c))
PROXY_FLAGS := $(filter-out -MMD -MP,$(CFLAGS_ALL)) -UWARPGRIND_LIBRARY \
  -Dwarpgrind_runtime_12=proxy_runtime_12 -Dwarpgrind_runtime_13=proxy_runtime_13
$(BUILD)/tests/cudart/libproxy-runtime.so: $(PROXY_RUNTIME_SRC) $(wildcard src/runtime/*.def \
  src/runtime/*.h src/cuda/*) $(call folder-objs,base) | $(BUILD)/lib/libcuda.so.1
	@mkdir -p $(@D)
	$(call say,LINK) $(CC) $(PROXY_FLAGS) -shared -Wl,-soname,libproxy-runtime.so -o $@.$$$$ \
	  $(PROXY_RUNTIME_SRC) $(call folder-objs,base) \
	  -L$(BUILD)/lib -l:libcuda.so.1 -lm -ldl -pthread && mv $@.$$$$ $@
$(BUILD)/tests/cudart/libcudart.so.13: $(BUILD)/tests/cudart/libproxy-runtime.so $(SHIM_SRC) \
  $(BUILD)/lib/cpu/libcudart.so.13
	$(call say,LINK) $(CC) $(PROXY_FLAGS) -DCUDART_MAJOR=13 -shared \
	  -Wl,-soname,libcudart.so.13 -Wl,--version-script=$(BUILD)/gen/cudart13.map \
	  -Wl,-rpath,'$$ORIGIN' -o $@ $(SHIM_SRC) $< -L$(BUILD)/lib -l:libcuda.so.1

# The manual page comes from the same option table as --help. A cross-built command cannot be run
# here.
HOST_ARCH := $(shell uname -m)
$(BUILD)/warpgrind.1: $(BUILD)/warpgrind
	@if [ "$(ARCH)" = "$(HOST_ARCH)" ]; then $(BUILD)/warpgrind --man > $@; else : > $@; fi

# --- what people type ---
# as many jobs as there are processors, where the caller has not said -j himself
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

deps:
	@tools/install-deps build

demo:
	@tools/install-deps build
	@$(MAKE) --no-print-directory $(JOBS) all
	@BUILD=$(BUILD) tools/demo

check:
	@tools/install-deps check
	@$(MAKE) --no-print-directory $(JOBS) all
	@BUILD=$(BUILD) CC="$(CC)" SAN=$(SAN) FUZZ_INPUTS=$(FUZZ_INPUTS) tests/run $(TESTS)

# The tests that a developer runs before every commit: three minutes on two processors.
check-quick:
	@tools/install-deps check
	@$(MAKE) --no-print-directory $(JOBS) all
	@BUILD=$(BUILD) CC="$(CC)" SAN=$(SAN) FUZZ_INPUTS=1000 tests/run --quick $(TESTS)

# All tests, those with random inputs at their full size: hours.
check-long:
	@tools/install-deps check
	@$(MAKE) --no-print-directory $(JOBS) all
	@BUILD=$(BUILD) CC="$(CC)" SAN=$(SAN) FUZZ_INPUTS=1000000 tests/run --long $(TESTS)

check-gpu:
	@tools/install-deps build
	@$(MAKE) --no-print-directory $(JOBS) all
	@BUILD=$(BUILD) CC="$(CC)" tests/check-gpu $(TESTS)

bench:
	@tools/install-deps bench
	@$(MAKE) --no-print-directory $(JOBS) all
	@BUILD=$(BUILD) CC="$(CC)" bench/run

# The same tests with arenas and vectors of the smallest size, and with several orders of warps and
# blocks. With SAN=1 the address sanitizer then sees the end of every single allocation.
STRESS_RUNS ?= 1:1 2:3 3:2
stress:
	@tools/install-deps check
	@$(MAKE) --no-print-directory $(JOBS) BUILD=$(BUILD)-stress \
	  CFLAGS="$(CFLAGS) -DWARPGRIND_STRESS=1" all
	@for run in $(STRESS_RUNS); do \
	  echo "seed $${run%:*}, workers $${run#*:}"; \
	  BUILD=$(BUILD)-stress CC="$(CC)" SAN=$(SAN) FUZZ_INPUTS=1000 WARPGRIND_SEED=$${run%:*} \
	  WARPGRIND_WORKERS=$${run#*:} \
	    tests/run $(TESTS) || exit 1; \
	done

fuzz:
	@tools/install-deps fuzz
	@$(MAKE) --no-print-directory $(JOBS) all
	@BUILD=$(BUILD) FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_SEED=0 tests/fuzz/run.sh

# Attacks with new random starts for HOURS or MINUTES; SEED repeats a soak. Findings are kept in
# $(BUILD)/soak/found.
HOURS ?= 0
MINUTES ?= 0
soak:
	@tools/install-deps check
	@$(MAKE) --no-print-directory $(JOBS) all
	@BUILD=$(BUILD) CC="$(CC)" SAN=$(SAN) tools/soak --hours=$(HOURS) --minutes=$(MINUTES) \
	  $(if $(SEED),--seed=$(SEED)) $(ATTACKS)

# Where the shells look for completion scripts; the first folder is the shell's name.
COMPLETIONS := bash-completion/completions/warpgrind fish/vendor_completions.d/warpgrind.fish \
  zsh/site-functions/_warpgrind
shell-of = $(firstword $(subst -, ,$(subst /, ,$(1))))
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/warpgrind/cpu \
	  $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(BUILD)/warpgrind $(DESTDIR)$(PREFIX)/bin/warpgrind
	install -m 755 $(BUILD)/lib/libcuda.so.1 $(BUILD)/lib/libwarpgrind.so \
	  $(DESTDIR)$(PREFIX)/lib/warpgrind/
	install -m 755 $(SHIMS) $(LIBRARIES) $(DESTDIR)$(PREFIX)/lib/warpgrind/cpu/
	install -m 755 $(BUILD)/lib/warpgrind_sqlite.so $(DESTDIR)$(PREFIX)/lib/warpgrind/
	if [ -e $(BUILD)/lib/warpgrind-jit ]; then \
	  install -m 755 $(BUILD)/lib/warpgrind-jit $(DESTDIR)$(PREFIX)/lib/warpgrind/; fi
	install -d $(DESTDIR)$(PREFIX)/lib/warpgrind/python
	install -m 644 $(BUILD)/lib/python/sitecustomize.py $(DESTDIR)$(PREFIX)/lib/warpgrind/python/
	ln -sf libcuda.so.1 $(DESTDIR)$(PREFIX)/lib/warpgrind/libcuda.so
	$(if $(OPENCL_LIB),install -d $(DESTDIR)$(PREFIX)/lib/warpgrind/opencl)
	$(if $(OPENCL_LIB),install -m 755 $(BUILD)/lib/libwarpgrind_opencl.so \
	  $(BUILD)/lib/libwarpgrind_opencl_layer.so \
	  $(DESTDIR)$(PREFIX)/lib/warpgrind/)
	$(if $(OPENCL_LIB),install -m 644 $(BUILD)/lib/opencl/warpgrind.icd \
	  $(DESTDIR)$(PREFIX)/lib/warpgrind/opencl/)
	$(if $(OPENCL_LIB),install -m 755 $(BUILD)/lib/opencl/libOpenCL.so.1 \
	  $(DESTDIR)$(PREFIX)/lib/warpgrind/opencl/)
	$(if $(OPENCL_LIB),ln -sf libOpenCL.so.1 \
	  $(DESTDIR)$(PREFIX)/lib/warpgrind/opencl/libOpenCL.so)
	install -m 644 $(BUILD)/warpgrind.1 $(DESTDIR)$(PREFIX)/share/man/man1/warpgrind.1
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/,$(dir $(COMPLETIONS)))
	if [ "$(ARCH)" = "$(HOST_ARCH)" ]; then \
	  $(foreach f,$(COMPLETIONS),$(BUILD)/warpgrind completion $(call shell-of,$(f)) \
	    > $(DESTDIR)$(PREFIX)/share/$(f) &&) :; fi
	install -d $(DESTDIR)$(PREFIX)/include
	install -m 644 $(wildcard include/*.h) $(DESTDIR)$(PREFIX)/include/

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/warpgrind \
	  $(addprefix $(DESTDIR)$(PREFIX)/share/,$(COMPLETIONS)) \
	  $(DESTDIR)$(PREFIX)/share/man/man1/warpgrind.1 \
	  $(addprefix $(DESTDIR)$(PREFIX)/,$(wildcard include/*.h))
	rm -rf $(DESTDIR)$(PREFIX)/lib/warpgrind

clean:
	rm -rf $(BUILD)

help:
	@echo 'make            build the command and the library into $(BUILD)/'
	@echo 'make demo       install what is missing, build, run the buggy merge sort without a GPU'
	@echo 'make check-quick  the tests to run before every commit: three minutes'
	@echo 'make check      all tests that need no GPU (SAN=1: with sanitizers)'
	@echo 'make check-long all tests, those with random inputs at full size: hours'
	@echo 'make check-gpu  the instruction tests on a real GPU, compared bit for bit with the virtual'
	@echo 'make bench      speed, side by side with Oclgrind and PoCL'
	@echo 'make stress     the tests with tiny arenas and shuffled orders of warps and blocks'
	@echo 'make fuzz       libFuzzer targets, SECONDS=60 each'
	@echo 'make soak       random attacks: HOURS=1 or MINUTES=10, ATTACKS=names, SEED=n'
	@echo 'make install    PREFIX=/usr/local DESTDIR='
	@echo 'make objs-ptx   compile one folder of src/; lib-ptx also archives it'
	@echo 'make format     applies clang-format to src/, prettier to the page and its tests'
	@echo 'variables       CC=clang  CC=x86_64-linux-gnu-gcc BUILD=build-x86_64  SAN=1  OPT=-O0'
	@echo '                CFLAGS=…  TESTS=pattern'

-include $(ALL_OBJS:.o=.d) $(wildcard $(BUILD)/libraries/*/*.d)
