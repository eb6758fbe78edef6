"""What is seen of curves, decided once for everything that draws them. Nothing is drawn here."""
