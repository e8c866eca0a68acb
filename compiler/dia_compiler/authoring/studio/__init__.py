"""The studio: a page on this machine that shows the templates of a benchmark while they are written."""
