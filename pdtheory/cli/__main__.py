"""`python -m pdtheory.cli COMMAND`."""

from pdtheory.cli import entry

if __name__ == "__main__":
    entry()
