// The environment variables that a library reads itself. The rule for a switch is that of python/dlx_torch_ext/_settings.py.
#ifndef DLX_SETTINGS_H_
#define DLX_SETTINGS_H_

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace dlx {

// Whether the value is one of the words, which are of small letters: in any case, and with ASCII white space around it.
inline bool says_one_of(const char* value, std::initializer_list<const char*> words) {
  const auto is_space = [](char c) { return (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= ' '); };
  while (is_space(*value)) ++value;
  size_t length = std::strlen(value);
  while (length > 0 && is_space(value[length - 1])) --length;
  for (const char* word : words) {
    if (std::strlen(word) != length) continue;
    size_t same = 0;
    // In ASCII a capital letter differs from the small one by this bit; no other byte becomes a letter of these words.
    while (same < length && (value[same] | (word[same] >= 'a' ? 0x20 : 0)) == word[same]) ++same;
    if (same == length) return true;
  }
  return false;
}

// Whether a switch is on: "0", "false", "no" and "off" turn it off. Anything else turns it on, also white space alone; unset or empty means
// `otherwise`.
inline bool switch_is_on(const char* name, bool otherwise) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return otherwise;
  return !says_one_of(value, {"0", "false", "no", "off"});
}

// A switch that is read from the environment once, at the first question. Its threads take no lock: two may read the same value.
class Switch {
 public:
  constexpr Switch(const char* name, bool otherwise) noexcept : name_(name), otherwise_(otherwise) {}

  bool is_on() {
    State state = state_.load(std::memory_order_relaxed);
    if (state == State::kUnread) {
      state = switch_is_on(name_, otherwise_) ? State::kOn : State::kOff;
      state_.store(state, std::memory_order_relaxed);
    }
    return state == State::kOn;
  }

 private:
  enum class State { kUnread, kOn, kOff };
  const char* name_;
  bool otherwise_;
  std::atomic<State> state_{State::kUnread};
};

}  // namespace dlx

#endif  // DLX_SETTINGS_H_
