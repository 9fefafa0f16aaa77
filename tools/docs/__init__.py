"""The tables of README.md and docs/ that are made from variants.toml and from what runs."""
