"""Sample runs of an invented fleet, in which every leak is known. `python -m data.generate` writes them."""
