"""Programs that a spec asks to be run: locked in, bounded, and only where the one who runs dia allows it."""
