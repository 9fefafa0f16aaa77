// libstdc++ asks glibc whether the process has one thread, through a variable that came with glibc 2.32. With one of our own
// the library loads on older ones; 0 means "count references atomically", which is always right.
#if defined(__GLIBC__) || defined(__linux__)
extern "C" {
[[gnu::visibility("hidden")]] char __libc_single_threaded = 0;
}
#endif
