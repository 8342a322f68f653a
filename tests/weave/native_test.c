// src/probe/report.c compiled for this machine: threads report at many sites through a small ring.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/report.c"

_Thread_local uint32_t device_native_block[3], device_native_thread[3];

enum { SITES = 500, THREADS = 8, ROUNDS = 20, SLOTS = 16 };
static struct { WgChannel ch; WgFinding slots[SLOTS]; uint64_t counts[SITES]; } memory;
static uint64_t near_counts[SITES];
static volatile int stop;
static uint32_t seen[SITES], bad;

static void *reader(void *user) {
  (void)user;
  for (WgChannel *ch = &memory.ch;;) {
    int last = stop;
    WgFinding *f = &memory.slots[ch->tail % SLOTS];
    if (__atomic_load_n(&f->sequence, __ATOMIC_ACQUIRE) != ch->tail + 1) {
      if (last) return NULL;
      continue;
    }
    if (f->site >= SITES || f->address != f->site * 8ull || f->kind != 3 ||
        f->block[0] >= THREADS || f->thread[2] != f->block[0] + 1 || f->lanes != 1)
      bad++;
    else seen[f->site]++;
    __atomic_store_n(&ch->tail, ch->tail + 1, __ATOMIC_RELEASE);
  }
}

static void *writer(void *user) {
  device_native_block[0] = (uint32_t)(uintptr_t)user;
  device_native_thread[2] = device_native_block[0] + 1;
  for (uint32_t round = 0; round < ROUNDS; round++)
    for (uint32_t s = 0; s < SITES; s++)
      wg_report((uintptr_t)&memory.ch.reports, 1, s, 3, 4, s * 8ull, 0, 0);
  return NULL;
}

int main(void) {
  memory.ch = (WgChannel){.magic = WG_CHANNEL_MAGIC,
                          .slots = SLOTS,
                          .sites = SITES,
                          .slots_at = sizeof(WgChannel),
                          .counts_at = sizeof(WgChannel) + sizeof memory.slots};
  memory.ch.reports = (WgReports){.channel = (uintptr_t)&memory.ch,
                                  .counts = (uintptr_t)near_counts,
                                  .far_counts = (uintptr_t)memory.counts,
                                  .sites = SITES};
  wg_report(0, 1, 2, 3, 4, 5, 6, 7);       // no channel: nothing happens
  pthread_t r, w[THREADS];
  pthread_create(&r, NULL, reader, NULL);
  for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&w[i], NULL, writer, (void *)i);
  for (int i = 0; i < THREADS; i++) pthread_join(w[i], NULL);
  stop = 1;
  pthread_join(r, NULL);
  for (uint32_t s = 0; s < SITES; s++)
    bad += seen[s] != 1 || (near_counts[s] & ~WG_COUNT_DESCRIBED) != THREADS * ROUNDS ||
           memory.counts[s] != wg_far_count(THREADS * ROUNDS);
  if (bad || memory.ch.lost) printf("FAIL native: %u wrong, %u lost\n", bad, memory.ch.lost);
  else printf("ok native\n");
  return bad || memory.ch.lost;
}
