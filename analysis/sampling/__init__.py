"""Which outputs are worth a label, and what the labels of a drawn sample say of the whole history.

The unit is the generation, which all figures count: each is drawn by itself, with a known chance, so that bounds hold
exactly however outputs repeat or runs bunch them. A label sticks to the verdict key, so one answers all draws of the
same output.
"""
