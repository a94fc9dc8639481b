"""Proofs of convergence theorems, as data for the checker."""
