"""Accumulated local effects: what is asked, what is kept, and how it becomes curves."""
