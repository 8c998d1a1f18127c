"""What holds for every test: hypothesis without a deadline, since a busy machine is no fault.

`make test` draws the same examples each time, so that what has passed passes; `make check-all` draws new ones.
"""

import os

from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
