// How a call gathers its tensors' device and stream, and who is blamed for an error.
#ifndef DLX_CALL_INL_H_
#define DLX_CALL_INL_H_

#include "arguments.h"

namespace dlx DLX_HIDDEN {

// Finds the table of the next tensor's type; without one type_ is NULL afterwards.
inline bool Call::look_up(PyTypeObject* type, Tensor* out) {
  const int found = dlx_table(type, &api_);
  type_ = found > 0 ? type : nullptr;
  if (found > 0) return true;
  if (found < 0) return out->blame();
  if (out->more_ != nullptr) out->drop();
  out->api_ = nullptr;
  later_ = true;
  return true;
}

// For a table that cannot borrow.
DLX_COLD inline bool Call::borrow_owned(Tensor* out) {
  dlx_view* view = out->more();
  if (view == nullptr) return false;
  if (dlx_view_by_table(out->object_, api_, view) < 0) return out->blame();
  out->tensor_ = view->tensor;
  return place(out) && may_be_written(out);
}

// Takes a tensor's device into account.
inline bool Call::place(Tensor* tensor) {
  const DLDevice& device = tensor->tensor_.device;
  if (some_ == nullptr) some_ = tensor;
  if (dlx_on_host(device.device_type)) {
    if (host_ == nullptr && (tensor->allow_ & host_too) == 0) host_ = tensor;
    return true;
  }
  if (lead_ == nullptr) {
    lead_ = tensor;
    return true;
  }
  const DLDevice& shared = lead_->tensor_.device;
  const bool is = device.device_type == shared.device_type && device.device_id == shared.device_id;
  return DLX_UNLIKELY(!is) ? elsewhere(tensor) : true;
}

DLX_COLD inline bool Call::may_be_written(const Tensor* tensor) const {
  const bool read_only = (tensor->more_->view.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
  if (!read_only || (tensor->allow_ & read_only_too) != 0) return true;
  return tensor->fail(PyExc_BufferError, "is read-only, and may be written here");
}

DLX_COLD inline bool Call::elsewhere(const Tensor* tensor) const {
  const DLDevice shared = device(), its = tensor->device();
  if (is_npu(shared) && is_npu(its) && shared.device_id == its.device_id) return true;
  PyObject* lead = where_in_call(lead_->position_, lead_->item_);
  if (lead != nullptr) {
    tensor->fail(PyExc_ValueError, "is on %s, but %U is on %s; all have to be on one device", DeviceName(its).text,
                 lead, DeviceName(shared).text);
  }
  Py_XDECREF(lead);
  return false;
}

// Borrows a tensor without a table, now that the stream is known with which its work is put in order.
DLX_COLD inline bool Call::settle(Tensor* tensor) {
  if (tensor->object_ == nullptr || tensor->api_ != nullptr) return true;
  dlx_view* view = tensor->more();
  if (view == nullptr) return false;
  if (dlx_device_of(tensor->object_, &tensor->tensor_.device) < 0) return tensor->blame();
  if (!place(tensor)) return false;
  const bool follows = lead_ != nullptr && lead_ != tensor;
  if (follows && !ask_stream()) return false;
  if (dlx_view_by_method(tensor->object_, tensor->device(), follows ? &stream_ : nullptr, view) < 0)
    return tensor->blame();
  tensor->tensor_ = view->tensor;
  return may_be_written(tensor);
}

inline DLDevice Call::device() const { return lead_ != nullptr ? lead_->device() : DLDevice{kDLCPU, 0}; }

inline bool Call::ask_stream() {
  if (asked_) return true;
  const DLDevice& device = lead_->tensor_.device;
  if (lead_->api_ == nullptr) {
    stream_ = lead_->more_->view.stream;
  } else if (dlx_table_stream(lead_->api_, device.device_type, device.device_id, &stream_) < 0) {
    return lead_->blame();
  }
  asked_ = true;
  return true;
}

inline bool Call::missing(int position) const { return fail_at(position, PyExc_TypeError, "is missing"); }

DLX_COLD inline PyObject* Call::where_in_call(int position, int item) const {
  char index[32] = "";
  const char* name = signature_ != nullptr ? signature_->names[position] : nullptr;
  if (item >= 0) snprintf(index, sizeof(index), "[%d]", item);
  if (joined_ && name == nullptr) return PyUnicode_FromString("a tensor argument");
  if (joined_) return PyUnicode_FromFormat("argument '%s'", name);
  return name == nullptr ? PyUnicode_FromFormat("argument %d%s", position + 1, index)
                         : PyUnicode_FromFormat("argument %d '%s'%s", position + 1, name, index);
}

DLX_COLD inline PyObject* Call::where(int position, int item) const {
  PyObject* its_place = where_in_call(position, item);
  if (signature_ == nullptr || its_place == nullptr) return its_place;
  PyObject* whole = PyUnicode_FromFormat("%s: %U", signature_->function, its_place);
  Py_DECREF(its_place);
  return whole;
}

DLX_COLD inline bool Call::blame(int position, int item) const {
  PyObject* its_place = where(position, item);
  dlx_error_at(its_place);
  Py_XDECREF(its_place);
  return false;
}

DLX_COLD inline void Call::set_error(int position, int item, PyObject* kind, const char* format, va_list values) const {
  const dlx_pending old = dlx_set_aside();
  PyObject* its_place = where(position, item);
  PyObject* text = its_place != nullptr ? PyUnicode_FromFormatV(format, values) : nullptr;
  if (text != nullptr) PyErr_Format(kind, "%U: %U", its_place, text);
  Py_XDECREF(text);
  Py_XDECREF(its_place);
  dlx_put_back(old);
}

DLX_COLD inline bool Call::fail_at(int position, PyObject* kind, const char* format, ...) const {
  va_list values;
  va_start(values, format);
  set_error(position, -1, kind, format, values);
  va_end(values);
  return false;
}

DLX_COLD inline bool Call::fail(PyObject* kind, const char* format, ...) const {
  const dlx_pending old = dlx_set_aside();
  va_list values;
  va_start(values, format);
  PyObject* text = PyUnicode_FromFormatV(format, values);
  va_end(values);
  if (text != nullptr && signature_ == nullptr) PyErr_Format(kind, "%U", text);
  if (text != nullptr && signature_ != nullptr) PyErr_Format(kind, "%s: %U", signature_->function, text);
  Py_XDECREF(text);
  dlx_put_back(old);
  return false;
}

}  // namespace dlx DLX_HIDDEN

#endif  // DLX_CALL_INL_H_
