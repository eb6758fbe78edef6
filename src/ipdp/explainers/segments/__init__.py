"""Segments: a curve for each group of observations, from the same answers of the model."""
