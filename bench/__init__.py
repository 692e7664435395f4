"""Side-by-side measurements; `python -m bench` runs them all and keeps the result."""
