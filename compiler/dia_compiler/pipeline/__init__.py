"""The phases of a compile in order, and the entry points: bundles, checks, parts, merging and compiling again."""
