"""What a partial dependence explainer remembers."""
