"""`python -m dia_compiler`: the command `dia`, where its script is not on the path."""

from __future__ import annotations

from dia_compiler.commands.entry import main

if __name__ == "__main__":
    main()
