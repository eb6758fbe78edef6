"""`python -m ipdp`: the command line, where the directory of scripts is not on the path."""

from ipdp.cli import main

if __name__ == "__main__":
    main()
