"""The run file: every reply in one SQLite database, its schema, transcripts, and merging."""
