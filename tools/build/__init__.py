"""Builds the wheel, for this machine or for another processor or system."""
