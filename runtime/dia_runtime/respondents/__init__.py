"""Everything that can be asked: baselines, recorded replies, programs, people, and models behind endpoints."""
