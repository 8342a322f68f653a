// The patches, compiled for the host: which accesses they report, and what of them.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "closed/patches.c"

_Thread_local uint32_t device_native_block[3] = {1, 2, 3}, device_native_thread[3] = {4, 5, 6};
_Thread_local struct DeviceNativeLane device_native_lane = {.is_global = 1};
int device_is_nobodys(uint64_t address) { return 0; }

enum { SITES = WG_CHANNEL_SITES, SLOTS = 64, CODE = 0x7000, LAUNCH = 9, FIRST_SITE = 100 };
static struct {
  WgChannel channel;
  WgFinding slots[SLOTS];
} memory;
static uint64_t counts[SITES];
static WgReports reports;
static struct {
  WgMemoryTable table;
  WgMemoryRange ranges[4];
} table = {{4, 0, 0},
           {{0x100000, 4096, WG_MEMORY_LIVE, 0, 0, 0},
            {0x200000, 100, WG_MEMORY_LIVE, 0, 0, 0},
            {0x300000, 4096, WG_MEMORY_FREED, 0, 0, 0},
            {0x400000, 8, WG_MEMORY_LIVE, 0, 0, 0}}};
static WgClosed record;
static int failed;

static void start(void) {
  memset(&memory, 0, sizeof memory);
  memset(counts, 0, sizeof counts);
  memory.channel = (WgChannel){.slots = SLOTS, .sites = SITES, .slots_at = sizeof(WgChannel)};
  reports = (WgReports){
      .channel = (uintptr_t)&memory.channel, .counts = (uintptr_t)counts, .sites = SITES};
  record = (WgClosed){.channel = (uintptr_t)&reports,
                      .memory = (uintptr_t)&table,
                      .code = CODE,
                      .launch = LAUNCH,
                      .site_base = FIRST_SITE,
                      .tools = 1u << TOOL_BIT_memcheck,
                      .windows = {{0x100000, 4096 - WG_CLOSED_WIDEST}}};
}

// kind 0: nothing is reported.
static void expect(const char *what, uint32_t kind, uint64_t pc, uint64_t address) {
  const WgFinding *f = memory.slots;
  bool found = f->sequence != 0,
       right = found == (kind != 0) &&
               (!found || (f->kind == kind && f->value[3] == pc - CODE && f->address == address &&
                           f->launch == LAUNCH &&
                           f->site % WG_SITE_NUMBERS == FIRST_SITE + (pc - CODE) / 16 % 64 &&
                           f->block[2] == 3 && f->thread[0] == 4 && memory.slots[1].sequence == 0));
  if (!right) printf("FAIL %s: kind %u at +0x%llx\n", what, found ? f->kind : 0,
                     (unsigned long long)f->value[3]);
  failed += !right;
}

#define ACCESS(what, kind, address, bytes, flags) \
  do { \
    start(); \
    wg_closed_global(&record, CODE + 0x1230, address, bytes, flags, NULL); \
    expect(what, kind, CODE + 0x1230, address); \
  } while (0)

enum { READ = 1, WRITE = 2, ATOMIC = 3, PREFETCH = 9 };

int main(void) {
  ACCESS("first byte", 0, 0x100000, 16, READ);
  ACCESS("last bytes", 0, 0x100ff8, 8, WRITE);
  ACCESS("past the end", KIND_OOB_WRITE, 0x101000, 4, WRITE);
  ACCESS("over the end", KIND_OOB_READ, 0x100ff8, 16, READ);
  ACCESS("before the start", KIND_OOB_ATOMIC, 0xffffc, 4, ATOMIC);
  ACCESS("in no window", 0, 0x200000, 4, WRITE);
  ACCESS("past the end, in no window", KIND_OOB_WRITE, 0x200064, 4, WRITE);
  ACCESS("shorter than the widest access", 0, 0x400000, 8, READ);
  ACCESS("freed", KIND_USE_AFTER_FREE, 0x300010, 4, READ);
  ACCESS("null", KIND_OOB_READ, 0, 4, READ);
  ACCESS("null with an offset", KIND_OOB_WRITE, 0x40, 4, WRITE);
  ACCESS("misaligned, in a window", KIND_MISALIGNED, 0x100002, 4, READ);
  ACCESS("prefetch past the end", 0, 0x101000, 4, PREFETCH);
  ACCESS("memory that nobody told of", 0, 0x900000, 4, WRITE);

  start();
  wg_closed_copy_async(&record, CODE + 16, 0x101000, 0, 16);
  expect("cp.async past the end", KIND_OOB_READ, CODE + 16, 0x101000);
  start();
  wg_closed_copy_async(&record, CODE + 16, 0, 0, 16);
  expect("cp.async of nothing", 0, CODE + 16, 0);
  start();
  wg_closed_bulk_read(&record, CODE + 32, 0x100000, 0, 0, 0xffff0000u | 256, 1);
  expect("bulk copy of all", 0, CODE + 32, 0x100000);
  start();
  wg_closed_bulk_read(&record, CODE + 32, 0x100000, 0, 0, 257, 0);
  expect("bulk copy of more", KIND_OOB_READ, CODE + 32, 0x100000);
  start();
  wg_closed_bulk_write(&record, CODE + 48, 0x100010, 0, 256);
  expect("bulk store past the end", KIND_OOB_WRITE, CODE + 48, 0x100010);
  start();
  wg_closed_bulk_reduce(&record, CODE + 48, 0x300000, 0, 1);
  expect("bulk reduction of freed memory", KIND_USE_AFTER_FREE, CODE + 48, 0x300000);

  start();
  record.tools = 0;
  wg_closed_global(&record, CODE, 0x101000, 4, WRITE, NULL);
  expect("no tool", 0, CODE, 0);
  start();
  wg_closed_global(NULL, CODE, 0x101000, 4, WRITE, NULL);
  expect("no record", 0, CODE, 0);
  if (!failed) printf("ok\n");
  return failed != 0;
}
