"""Parts that need numpy and nothing else: smoothing, storages, the curve."""
