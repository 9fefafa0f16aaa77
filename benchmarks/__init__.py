"""Measurements that compare in one run. Each prints a table; none of them is a test."""
