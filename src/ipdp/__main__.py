"""`python -m ipdp`: the command line, where the directory of scripts is not on the path."""

import sys

if __name__ == "__main__":
    # `-m` has put the current directory first, which may be somebody else's, with a `typer.py`.
    if not sys.flags.safe_path:
        del sys.path[0]

    from ipdp.cli import main

    main()
