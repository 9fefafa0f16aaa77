"""Print the current stream outside and inside a stream block, by torch and by C++, as JSON. tools/demo/streams.py runs
this file in the demo's environment."""

import json
import sys

import torch
import tvm_ffi.cpp

SOURCE = """
int64_t stream_of(tvm::ffi::TensorView x) {
  DLDevice device = x.device();
  return reinterpret_cast<int64_t>(TVMFFIEnvGetStream(device.device_type, device.device_id));
}
"""


def main() -> None:
    index = int(sys.argv[1])
    stream_of = tvm_ffi.cpp.load_inline("dlx_demo", cpp_sources=SOURCE, functions="stream_of").stream_of
    x = torch.empty(4, 4, device=f"cuda:{index}")
    side = torch.cuda.Stream(device=index)
    answers = []

    def compare(where: str) -> None:
        current = torch.cuda.current_stream(index).cuda_stream
        answers.append({"device": f"cuda:{index}", "where": where, "torch": current, "seen": stream_of(x)})

    compare("outside")
    with torch.cuda.stream(side):
        compare("inside")
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
