"""What several kinds of test share: the exchange table in ctypes, foreign tensors, torch's tensors by kind, child processes."""
