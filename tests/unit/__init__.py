"""Tests that need no torch: facts go in as plain arguments, or as fake modules."""
