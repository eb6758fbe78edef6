"""Regions: sums of ICE curves by the parts of other features, and the splits found in them."""
