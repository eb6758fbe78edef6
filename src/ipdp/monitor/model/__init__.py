"""Changes of the model: it is evaluated again on stored observations, and compared with itself."""
