"""The report: one page that contains everything."""
