"""Everyone at once on one real service: uploaders, readers, reviewers, a replay, promotions; bounded in count and time.

What an answer may say is known: each upload adds the same whole number of everything, so that any state between two
acknowledged commits is a multiple, not below what was acknowledged before the request began and not above what was
sent before the answer came.
"""
