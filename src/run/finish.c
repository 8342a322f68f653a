// Writes the data about a run as a whole to its run file: a part at once, so that the file of a run
// that was cut short can be used, all of it at the end.
#include <time.h>

#include "run/internal.h"

static void save_meta(Run *r, const char *key, const char *value) {
  run_save(r, TABLE_meta, "tt", key, value);
}

static void save_number(Run *r, const char *key, int64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)value);
  save_meta(r, key, text);
}

static void save_now(Run *r, const char *key) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  save_number(r, key, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

void run_file_begin(Run *r) {
  if (!r->file) return;
  save_meta(r, "warpgrind", WARPGRIND_VERSION);
  save_meta(r, "program", r->program);
  save_meta(r, "device", r->device);
  save_meta(r, "tools", r->tools);
  save_meta(r, "api", api_words(r->api)->api);
  save_number(r, "pid", r->main_pid);
  save_meta(r, "complete", "no");
  save_now(r, "started_ms");
  run_file_commit(r, true);
}

static void save_note(Run *r, uint32_t i) {
  const RunNote *n = &r->notes.data[i];
  run_save(r, TABLE_note, "iitt", (int64_t)(i + 1), (int64_t)(n->process ? n->process->id : 0),
           severity_name(n->severity), n->text);
}

// Saves what a report says of the run so far, in case it is cut short here.
void run_save_progress(Run *r) {
  uint64_t kernels = 0;
  for (uint32_t i = 0; i < r->kernels.len; i++) {
    RunKernel *k = r->kernels.data[i];
    kernels += k->launches != 0;
    if (k->saved_launches == k->launches) continue;
    run_save_kernel(r, k);
    k->saved_launches = k->launches;
  }
  for (uint32_t i = 0; i < r->findings.len; i++) {
    RunFinding *f = r->findings.data[i];
    if (f->saved_count != f->count) run_save_finding(r, f);
    f->saved_count = f->count;
  }
  for (; r->saved_notes < r->notes.len; r->saved_notes++) save_note(r, r->saved_notes);
  save_number(r, "launches", (int64_t)r->counted_launches);
  save_number(r, "checked_launches", (int64_t)r->checked_launches);
  save_number(r, "different_kernels", (int64_t)kernels);
  save_now(r, "saved_ms");
  r->progressed = false;
}

static void save_end(Run *r) {
  save_meta(r, "end", r->end);
  save_meta(r, "failure", r->failure);
  save_number(r, "exit_code", r->exit_code);
  save_number(r, "launches", (int64_t)r->launches);
  save_number(r, "checked_launches", (int64_t)r->checked_launches);
  save_number(r, "different_kernels", (int64_t)r->different_kernels);
  if (r->library_calls) save_number(r, "library_calls", (int64_t)r->library_calls);
  if (r->checked_library_calls)
    save_number(r, "checked_library_calls", (int64_t)r->checked_library_calls);
  if (r->repeated_launches) save_number(r, "repeated_launches", (int64_t)r->repeated_launches);
  save_number(r, "findings_left_out", (int64_t)r->findings_left_out);
  save_number(r, "places_left_out", (int64_t)r->places_left_out);
  save_number(r, "processes_unrecorded", r->unrecorded);
  save_number(r, "processes_still_running", r->still_running);
  save_meta(r, "complete", "yes");
}

void run_save_kernel(Run *r, const RunKernel *k) {
  run_save(r, TABLE_kernel, "iiittiiitttit", (int64_t)k->id, (int64_t)k->process->id,
           (int64_t)(k->module ? k->module->id : 0), k->name, k->readable, (int64_t)k->launches,
           (int64_t)k->checked, (int64_t)k->covered, k->reason, k->cure, k->note,
           (int64_t)k->retested, k->patched_by);
}

static int64_t site_id(const RunSite *s) { return s ? s->id : 0; }

void run_save_finding(Run *r, const RunFinding *f) {
  char kinds[40];
  uint32_t parts = f->kind->parts;
  int64_t extra1 = parts & HAS_ORIGIN ? site_id(f->origin) : (int64_t)f->extra[1];
  int64_t extra2 = parts & HAS_SOURCE ? site_id(f->source) : (int64_t)f->extra[2];
  snprintf(kinds, sizeof kinds, "iitttiii%s%siiiiiiiiiiitiiitt",
           f->has_thread ? "iiiiiii" : "xxxxxxx", f->has_address ? "iiii" : "xiii");
  run_save(r, TABLE_finding, kinds, (int64_t)f->id, (int64_t)f->process->id, f->kind->name,
           severity_name(f->kind->severity), f->text, (int64_t)(f->kernel ? f->kernel->id : 0),
           (int64_t)f->launch_number, site_id(f->site), (int64_t)f->block[0], (int64_t)f->block[1],
           (int64_t)f->block[2], (int64_t)f->thread[0], (int64_t)f->thread[1],
           (int64_t)f->thread[2], (int64_t)f->lanes, (int64_t)f->address, (int64_t)f->size,
           (int64_t)(f->allocation ? f->allocation->id : 0), f->offset, (int64_t)f->value[0],
           (int64_t)f->value[1], (int64_t)f->value[2], (int64_t)f->value[3], (int64_t)f->extra[0],
           extra1, extra2, (int64_t)(f->stack ? f->stack->id : 0), (int64_t)f->count,
           (int64_t)(f->inside ? f->inside->id : 0),
           (int64_t)(f->other_stack ? f->other_stack->id : 0), f->other_title,
           (int64_t)(f->suppressed ? f->suppressed->id : 0),
           (int64_t)(f->allocation && f->allocation->freed),
           (int64_t)(f->inside && f->inside->freed), f->parameter, api_words(f->api)->api);
}

static void save_count(Run *r, const RunCount *c) {
  int64_t id = ++r->last_id;
  run_save(r, TABLE_count_row, "ittiiiiiiiii", id, c->kernel, c->file, (int64_t)c->line,
           (int64_t)c->total, (int64_t)c->warp_total, (int64_t)c->loads, (int64_t)c->stores,
           (int64_t)c->atomics, (int64_t)c->load_bytes, (int64_t)c->store_bytes,
           (int64_t)c->atomic_bytes);
  for (unsigned i = 0; i < ARRAY_LEN(c->classes); i++)
    if (c->classes[i] && run_class_name(i))
      run_save(r, TABLE_count_class, "iti", id, run_class_name(i), (int64_t)c->classes[i]);
}

bool run_file_finish(Run *r, Error *err) {
  if (!r->file) return true;
  for (uint32_t i = 0; i < r->measures.len; i++) run_save_measure(r, r->measures.data[i]);
  run_file_trace_ends(r);
  run_prove_code_sources(r);
  run_save_uses(r);
  for (uint32_t i = 0; i < r->kernels.len; i++) run_save_kernel(r, r->kernels.data[i]);
  for (uint32_t i = 0; i < r->findings.len; i++) run_save_finding(r, r->findings.data[i]);
  for (uint32_t i = 0; i < r->suppressions.len; i++) {
    const RunSuppression *s = r->suppressions.data[i];
    run_save(r, TABLE_suppression, "itti", (int64_t)s->id, s->name, s->file, (int64_t)s->line);
  }
  for (uint32_t i = 0; i < r->counts.len; i++) save_count(r, r->counts.data[i]);
  for (uint32_t i = 0; i < r->notes.len; i++) save_note(r, i);
  save_end(r);
  run_file_commit(r, true);
  bool ok = run_file_close(r->file, err);
  r->file = NULL;
  return ok;
}
