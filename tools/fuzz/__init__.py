"""./dev fuzz: libFuzzer on the five functions, and hypothesis on the export of tensors. Targets: tests/fuzz."""
