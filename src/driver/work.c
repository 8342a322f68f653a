// Work: one thing a stream or graph does. Run, copy, free.
#include "driver/driver.h"

static bool is_there(uint64_t base, uint64_t size) {
  Alloc a;
  return alloc_find(base, &a) && a.base == base && a.size >= size;
}

static CUresult run(const Work *w, uint64_t seq) {
  switch (w->kind) {
    case WORK_KERNEL:
      if (w->kernel.inputs) session_inputs_ready(w->kernel.inputs, is_there);
      return launch_run(w->ctx, &w->kernel);
    case WORK_COPY:
      copy_run(&w->copy);
      events_copied(&w->copy);
      return CUDA_SUCCESS;
    case WORK_SET:
      set_run(&w->set);
      events_set(&w->set);
      return CUDA_SUCCESS;
    case WORK_HOST: w->host.fn(w->host.user); return CUDA_SUCCESS;
    case WORK_LIBRARY: return library_call_run(w->library);
    case WORK_MEMOPS: return memops_run(w->memops.ops, w->memops.count);
    case WORK_ALLOC:
      graph_memory_set_live(w->alloc.memory);
      session_memory_event(
          &(SessionMemoryEvent){MEMORY_REUSED, .base = graph_memory_address(w->alloc.memory)});
      return CUDA_SUCCESS;
    case WORK_FREE: memory_free_now(w->free); return CUDA_SUCCESS;
    case WORK_GRAPH: return plan_run(w->plan, seq);
    case WORK_WAIT: {
      pthread_mutex_lock(&queue_lock);
      Stream *s = w->event->stream;
      uint64_t last = w->event->seq;
      if (s) stream_retain(s);
      pthread_mutex_unlock(&queue_lock);
      if (!s) return CUDA_SUCCESS;
      queue_wait(s, last);
      pthread_mutex_lock(&queue_lock);
      stream_release(s);
      pthread_mutex_unlock(&queue_lock);
      return CUDA_SUCCESS;
    }
    default: return CUDA_SUCCESS;
  }
}

CUresult work_run(const Work *w, uint64_t seq) {
  if (driver_ending()) return CUDA_ERROR_DEINITIALIZED;
  if (w->kind == WORK_RECORD) {
    w->event->time_ns = clock_ns();
    return CUDA_SUCCESS;
  }
  if (w->kind == WORK_CALLBACK) {  // gets the error, is not skipped
    w->callback.fn(w->callback.stream, (CUresult)w->ctx->error, w->callback.user);
    return CUDA_SUCCESS;
  }
  if (w->ctx->error) return (CUresult)w->ctx->error;
  CUresult result = run(w, seq);
  if (w->outputs && result == CUDA_SUCCESS) session_outputs_ready(w->outputs, is_there);
  if (result) context_poison(w->ctx, result);
  return result;
}

void work_copy(Work *to, const Work *from) {
  *to = *from;
  to->outputs = NULL;
  switch (from->kind) {
    case WORK_KERNEL: {
      size_t n = from->kernel.function->info->param_bytes;
      to->kernel.params = mem_alloc(MAX(n, 1));
      memcpy(to->kernel.params, from->kernel.params, n);
      to->kernel.inputs = NULL;
      to->kernel.interrupt_memory = 0;
      break;
    }
    case WORK_MEMOPS: {
      size_t n = sizeof *from->memops.ops * from->memops.count;
      to->memops.ops = mem_alloc(MAX(n, 1));
      memcpy(to->memops.ops, from->memops.ops, n);
      break;
    }
    case WORK_RECORD:
    case WORK_WAIT: event_retain(to->event); break;
    case WORK_GRAPH: plan_retain(to->plan); break;
    case WORK_LIBRARY: library_call_retain(to->library); break;
    case WORK_ALLOC: graph_memory_retain(to->alloc.memory); break;
    case WORK_COPY: CHECK(!from->copy.staged); break;
    default: break;
  }
}

void work_free(Work *w) {
  session_outputs_free(w->outputs);
  w->outputs = NULL;
  switch (w->kind) {
    case WORK_KERNEL:
      tools_done(w->ctx, &w->kernel);
      session_inputs_free(w->kernel.inputs);
      interrupts_done(&w->kernel);
      free(w->kernel.params);
      break;
    case WORK_COPY: free(w->copy.staged); break;
    case WORK_MEMOPS: free(w->memops.ops); break;
    case WORK_RECORD:
    case WORK_WAIT: event_release(w->event); break;
    case WORK_GRAPH: plan_release(w->plan); break;
    case WORK_LIBRARY: library_call_release(w->library); break;
    case WORK_ALLOC: graph_memory_release(w->alloc.memory); break;
    default: break;
  }
  w->kind = WORK_EMPTY;
}
