"""The tools behind ./dev, run inside its tool environment."""
