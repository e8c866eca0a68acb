"""The language server for spec files: diagnostics, completion, hover, definitions, renaming, fixes and formatting."""
