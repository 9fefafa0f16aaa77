// What runs when the last owner of somebody else's memory is gone.
#ifndef DLX_FROM_BLOB_H_
#define DLX_FROM_BLOB_H_

#include <dlpack/dlpack.h>

#include <functional>
#include <memory>

namespace dlx {

// The deleter of a storage whose context is a managed tensor.
inline void delete_managed(void* context) {
  auto* managed = static_cast<DLManagedTensorVersioned*>(context);
  managed->deleter(managed);
}

// Runs `deleter(context)`, but only once it is armed. from_blob's tensor may be dropped before it is complete, and such a failure
// has to leave the memory with the caller.
class ArmedDeleter {
 public:
  ArmedDeleter(void* context, void (*deleter)(void*))
      : state_(std::make_shared<State>(State{context, deleter, false})) {}

  // Shares its state with this object.
  std::function<void(void*)> function() const {
    return [state = state_](void*) {
      if (state->armed) state->deleter(state->context);
    };
  }

  // From now on the function runs the deleter. `deleter` may be NULL: then there is nothing to run.
  void arm() { state_->armed = state_->deleter != nullptr; }

 private:
  struct State {
    void* context;
    void (*deleter)(void*);
    bool armed;
  };
  std::shared_ptr<State> state_;
};

}  // namespace dlx

#endif  // DLX_FROM_BLOB_H_
