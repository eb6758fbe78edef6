"""The same figures with plotly, which is imported when one is made, not before."""
