"""Search a corpus for a benchmark: its canaries, its prompts, and fragments of them."""
