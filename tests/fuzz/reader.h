// Values from the fuzzer's bytes: small ones often, and those at the edges of their types. Where the bytes end, zeros follow.
#ifndef DLX_TESTS_FUZZ_READER_H_
#define DLX_TESTS_FUZZ_READER_H_

#include <cstddef>
#include <cstdint>

class Reader {
 public:
  Reader(const uint8_t* bytes, size_t size) : bytes_(bytes), left_(size) {}

  bool at_end() const { return left_ == 0; }

  uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *bytes_++;
  }

  uint64_t bits(int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= static_cast<uint64_t>(byte()) << (8 * i);
    return value;
  }

  // True for one byte in `times`; false where there is none left.
  bool once_in(int times) { return byte() % times == times - 1; }

  // A number whose kind stands in the low bits of a byte, and which is small for most bytes.
  int64_t number() {
    const uint8_t kind = byte();
    const uint64_t high = kind >> 4;
    switch (kind & 15) {
      case 8: return byte();
      case 9: return static_cast<int64_t>(bits(2));
      case 10: return static_cast<int64_t>(bits(8));
      case 11: return static_cast<int64_t>(uint64_t{1} << (4 * high + 3));
      case 12: return static_cast<int64_t>((uint64_t{1} << (4 * high + 3)) - 1);
      case 13: return -static_cast<int64_t>(high) - 1;
      case 14: return INT64_MAX - static_cast<int64_t>(high);
      case 15: return INT64_MIN + static_cast<int64_t>(high);
      default: return static_cast<int64_t>(high);
    }
  }

 private:
  const uint8_t* bytes_;
  size_t left_;
};

#endif  // DLX_TESTS_FUZZ_READER_H_
