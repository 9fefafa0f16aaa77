// The environment variables that a library reads itself. The rule for a switch is that of python/dlx_torch_ext/_settings.py.
#ifndef DLX_SETTINGS_H_
#define DLX_SETTINGS_H_

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace dlx {

// Whether a switch is on: "0", "false", "no" and "off" turn it off, in any case and with ASCII white space around them. Anything else
// turns it on, also white space alone; unset or empty means `otherwise`.
inline bool switch_is_on(const char* name, bool otherwise) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return otherwise;
  std::string word;
  for (; *value != '\0'; ++value) {
    word += static_cast<char>(*value >= 'A' && *value <= 'Z' ? *value - 'A' + 'a' : *value);
  }
  const char* spaces = " \t\n\v\f\r\x1c\x1d\x1e\x1f";
  const size_t first = word.find_first_not_of(spaces);
  if (first == std::string::npos) return true;
  word = word.substr(first, word.find_last_not_of(spaces) - first + 1);
  return word != "0" && word != "false" && word != "no" && word != "off";
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
