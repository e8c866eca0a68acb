"""From rows to a bundle on disk: health checks, cache, shards, atomic output."""
