"""The command line of `tests.api`, here too."""

from tests.api.conftest import _folder_of_its_own, leakdown

__all__ = ["_folder_of_its_own", "leakdown"]
