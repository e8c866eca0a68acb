"""Find shortcuts: rules on the surface of prompts, learned and tested on instances, that need no understanding."""
