/* libopapi, the one operator that does something: a copy between contiguous tensors of one dtype. torch_npu uses it in place
 * of a copy by the runtime, on every thread but the first. All other operators are stubs. */
#include "acl.h"
#include "queue.h"

#include <stdlib.h>

struct tensor {
  char* data;
  size_t size; /* in bytes; 0 if it is not contiguous, or of a dtype that is not in the list */
  int dtype;
};

struct executor {
  struct tensor to, from;
};

static size_t item_size(int dtype) { /* aclDataType */
  static const unsigned char sizes[] = {4, 2, 1, 4, 1, 0, 2, 2, 4, 8, 8, 8, 1, 0, 0, 0, 8, 16};
  return dtype == 27 ? 2 : dtype >= 0 && (size_t)dtype < sizeof sizes ? sizes[dtype] : 0; /* 27: bfloat16 */
}

struct tensor* aclCreateTensor(const int64_t* shape, uint64_t ndim, int dtype, const int64_t* strides, int64_t offset,
                               int format, const int64_t* storage_shape, uint64_t storage_ndim, void* data) {
  NOTE();
  (void)format, (void)storage_shape, (void)storage_ndim;
  struct tensor* made = malloc(sizeof *made);
  int64_t count = 1, contiguous = 1;
  for (uint64_t i = ndim; i-- > 0; count *= shape[i]) contiguous &= shape[i] == 1 || strides[i] == count;
  if (made)
    *made = (struct tensor){(char*)data + (size_t)offset * item_size(dtype),
                            contiguous ? (size_t)count * item_size(dtype) : 0, dtype};
  return made;
}

int aclDestroyTensor(struct tensor* tensor) {
  NOTE();
  free(tensor);
  return SUCCESS;
}

int aclnnInplaceCopyGetWorkspaceSize(const struct tensor* to, const struct tensor* from, uint64_t* workspace,
                                     struct executor** out) {
  NOTE();
  *workspace = 0;
  *out = malloc(sizeof **out);
  if (!*out) return INTERNAL_ERROR;
  **out = (struct executor){*to, *from};
  return SUCCESS;
}

int aclnnInplaceCopy(void* workspace, uint64_t size, struct executor* executor, void* stream) {
  WORK();
  (void)workspace, (void)size;
  const struct tensor to = executor->to, from = executor->from;
  free(executor);
  if (to.dtype == from.dtype && to.size == from.size)
    dlx_sim_copy(dlx_sim_queue_of(stream), to.data, from.data, to.size);
  return SUCCESS;
}
