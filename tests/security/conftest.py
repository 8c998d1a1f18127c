"""The command line, as the tests of the service have it."""

from tests.api.conftest import _folder_of_its_own, leakdown

__all__ = ["_folder_of_its_own", "leakdown"]
