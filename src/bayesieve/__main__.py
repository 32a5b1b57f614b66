"""``python -m bayesieve``: the command line."""

from bayesieve.cli import main

if __name__ == "__main__":
    main()
