// One call of the table each, with input made of the fuzzer's bytes, and what has to be true after it.
#ifndef DLX_TESTS_FUZZ_OPERATIONS_H_
#define DLX_TESTS_FUZZ_OPERATIONS_H_

#include "reader.h"

void import_foreign(Reader& reader);  // a managed tensor of another library
void import_block(Reader& reader);    // one of the table's own, changed by a consumer; or its deletion
void allocate(Reader& reader);
void export_object(Reader& reader);
void ask_stream(Reader& reader);

#endif  // DLX_TESTS_FUZZ_OPERATIONS_H_
