"""./dev mutate: changes the code in small ways, a mutant each, and looks whether a test fails for it."""
