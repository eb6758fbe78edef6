"""Changes that no curve shows: the explained share, and the regions of an effect."""
