"""The figures drawn with matplotlib, which is imported when one is drawn, not before."""
