"""Tests that need no torch: they pass facts as plain arguments, or use a fake torch."""
