"""The figures drawn with plotly, which is imported when one is drawn, not before."""
