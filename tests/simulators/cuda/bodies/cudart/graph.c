/* libcudart, graphs: the copies and host functions that a stream got while it was capturing. */
#include "cudart.h"
#include "queue.h"

int cudaStreamBeginCapture(void* stream, int mode) {
  NOTE();
  (void)mode;
  dlx_sim_begin_capture(dlx_sim_queue_of(stream));
  return SUCCESS;
}

int cudaStreamEndCapture(void* stream, struct work** graph) {
  NOTE();
  *graph = dlx_sim_end_capture(dlx_sim_queue_of(stream));
  return SUCCESS;
}

/* Its further parameters changed at CUDA 12. */
int cudaGraphInstantiate(struct work** executable, const struct work* graph) {
  NOTE();
  *executable = dlx_sim_copy_graph(graph);
  return SUCCESS;
}

int cudaGraphInstantiateWithFlags(struct work** executable, const struct work* graph, unsigned long long flags) {
  NOTE();
  (void)flags;
  *executable = dlx_sim_copy_graph(graph);
  return SUCCESS;
}

int cudaGraphGetNodes(const struct work* graph, void* nodes, size_t* count) {
  NOTE();
  (void)nodes;
  *count = graph != NULL; /* torch only asks whether there are any */
  return SUCCESS;
}

int cudaGraphLaunch(const struct work* executable, void* stream) {
  NOTE();
  dlx_sim_launch(dlx_sim_queue_of(stream), executable);
  return SUCCESS;
}

int cudaGraphDestroy(struct work* graph) {
  NOTE();
  dlx_sim_drop_graph(graph);
  return SUCCESS;
}

int cudaGraphExecDestroy(struct work* executable) {
  NOTE();
  dlx_sim_drop_graph(executable);
  return SUCCESS;
}
