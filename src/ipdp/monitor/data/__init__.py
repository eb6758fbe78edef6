"""Moves of the data: the values of each feature, watched without the model."""
