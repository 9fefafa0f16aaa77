"""What several kinds of test share: the table in ctypes, foreign tensors, torch's by kind, child processes."""
