// Tells the compiler which way a branch nearly always goes. MSVC has no such hint and guesses.
#ifndef DLX_LIKELY_H_
#define DLX_LIKELY_H_

#if defined(_MSC_VER)
#define DLX_LIKELY(condition) (condition)
#define DLX_UNLIKELY(condition) (condition)
#else
#define DLX_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), 1)
#define DLX_UNLIKELY(condition) __builtin_expect(static_cast<bool>(condition), 0)
#endif

#endif  // DLX_LIKELY_H_
