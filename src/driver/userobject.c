// User objects: a program's resource that lives as long as the graphs that need it.
#include "driver/driver.h"

typedef struct UserObject {
  ObjectKind kind;
  _Atomic int refs;
  void *data;
  CUhostFn destroy;
} UserObject;

static void release(UserObject *o, unsigned n) {
  if (atomic_fetch_sub(&o->refs, (int)n) > (int)n) return;
  o->destroy(o->data);
  object_delete(o);
}

void user_refs_retain(Graph *to, const Graph *from) {
  for (uint32_t i = 0; i < from->users.len; i++) {
    ((UserObject *)from->users.data[i].object)->refs += (int)from->users.data[i].count;
    vec_push(&to->users, from->users.data[i]);
  }
}

void user_refs_release(Graph *g) {
  for (uint32_t i = 0; i < g->users.len; i++)
    release((UserObject *)g->users.data[i].object, g->users.data[i].count);
  g->users.len = 0;
}

CUresult cuUserObjectCreate(CUuserObject *out, void *data, CUhostFn destroy, unsigned refs,
                            unsigned flags) {
  TRY(driver_check());
  if (!out || !destroy || !refs || refs > INT32_MAX || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
    return CUDA_ERROR_INVALID_VALUE;
  UserObject *o = object_new(OBJECT_USER, sizeof *o);
  o->refs = (int)refs;
  o->data = data;
  o->destroy = destroy;
  *out = (CUuserObject)o;
  return CUDA_SUCCESS;
}

static CUresult get(CUuserObject handle, unsigned count, UserObject **out) {
  TRY(driver_check());
  *out = object_get(handle, OBJECT_USER);
  return *out && count && count <= INT32_MAX ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuUserObjectRetain(CUuserObject handle, unsigned count) {
  UserObject *o;
  TRY(get(handle, count, &o));
  o->refs += (int)count;
  return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject handle, unsigned count) {
  UserObject *o;
  TRY(get(handle, count, &o));
  release(o, count);
  return CUDA_SUCCESS;
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject handle, unsigned count,
                                 unsigned flags) {
  UserObject *o;
  Graph *g = object_get(graph, OBJECT_GRAPH);
  if (!g || flags > CU_GRAPH_USER_OBJECT_MOVE) return CUDA_ERROR_INVALID_VALUE;
  TRY(get(handle, count, &o));
  if (!(flags & CU_GRAPH_USER_OBJECT_MOVE)) o->refs += (int)count;
  for (uint32_t i = 0; i < g->users.len; i++)
    if ((UserObject *)g->users.data[i].object == o) {
      g->users.data[i].count += count;
      return CUDA_SUCCESS;
    }
  vec_push(&g->users, (UserRef){(void *)o, count});
  return CUDA_SUCCESS;
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject handle, unsigned count) {
  UserObject *o;
  Graph *g = object_get(graph, OBJECT_GRAPH);
  if (!g) return CUDA_ERROR_INVALID_VALUE;
  TRY(get(handle, count, &o));
  for (uint32_t i = 0; i < g->users.len; i++) {
    UserRef *r = &g->users.data[i];
    if ((UserObject *)r->object != o) continue;
    if (r->count < count) return CUDA_ERROR_INVALID_VALUE;
    r->count -= count;
    if (!r->count) *r = g->users.data[--g->users.len];
    release(o, count);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}
