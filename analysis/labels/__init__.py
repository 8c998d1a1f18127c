"""Labels: people's verdicts on outputs. Truth is made of them and of nothing else (the view `truth`, 0005_labels.sql).

A label sticks to the verdict key, so that neither a re-upload nor a new detector loses it, and is never changed:
whoever says something else adds a label, and the last word counts.
"""
