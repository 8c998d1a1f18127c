"""What holds for every test: hypothesis without a deadline, since a busy machine is no fault."""

from hypothesis import settings

settings.register_profile("leakdown", deadline=None)
settings.load_profile("leakdown")
