"""The systems of the field, a file each."""

from pdtheory.catalog.registry import System, get_schedule, systems

__all__ = ["System", "get_schedule", "systems"]
