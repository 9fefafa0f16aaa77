// A managed tensor that a consumer hands in, checked before anything is made of it.
#ifndef DLX_INCOMING_H_
#define DLX_INCOMING_H_

#include <dlpack/dlpack.h>

#include <cstdint>

#include "errors.h"
#include "geometry.h"

namespace dlx {

// BufferError for a DLPack major version other than 1, a dtype (lanes included) that this torch has not, and sub-byte elements padded to
// a byte; ValueError for a negative ndim, size or stride, a size that overflows, NULL data with elements. On success *data is the first element's address, byte_offset
// included, *bytes the distance to the end of the last one, and *geometry all but the device; shape and strides stay `managed`'s.
bool check_incoming(const DLManagedTensorVersioned* managed, Geometry* geometry, char** data, int64_t* bytes,
                    Error* error);

}  // namespace dlx

#endif  // DLX_INCOMING_H_
