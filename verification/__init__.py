"""The claims of the paper and of this project, a file each, checked: `python -m verification`."""
