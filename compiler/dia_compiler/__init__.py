"""YAML specs to frozen bundles."""
