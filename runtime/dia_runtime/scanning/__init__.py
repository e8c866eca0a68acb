"""Looking for a benchmark in a corpus: its canaries, its prompts, and pieces of them."""
