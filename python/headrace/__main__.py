"""``python -m headrace``: the command ``headrace``."""

from .cli import main

if __name__ == "__main__":
    main()
