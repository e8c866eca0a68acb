"""How far a reader gets who understands nothing: rules over the surface of prompts, learnt and judged on instances."""
