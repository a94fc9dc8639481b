"""The paper's figures and tables, rebuilt: one file each, `expected/` holds what they must contain."""
