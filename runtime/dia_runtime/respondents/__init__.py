"""Everything that can be asked: baselines, recorded replies, programs, people, and models of providers."""
