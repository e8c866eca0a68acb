"""Tools of models: their definitions, and what runs their calls."""
