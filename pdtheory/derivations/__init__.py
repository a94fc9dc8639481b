"""Derivations: proofs of closed forms, from the timing law to the formula, as data for the checker."""
