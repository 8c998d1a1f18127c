"""Finds the plugins of a package: exactly one object of a kind in each module, sorted by module name."""

import importlib
import pkgutil
from types import ModuleType
from typing import TypeVar

Kind = TypeVar("Kind")


def discover(package: ModuleType, kind: type[Kind]) -> tuple[Kind, ...]:
    """The one `kind` of each module of `package`; TypeError for a module that defines none or several."""
    modules = sorted(info.name for info in pkgutil.iter_modules(package.__path__))
    return tuple(_only(importlib.import_module(f"{package.__name__}.{name}"), kind) for name in modules)


def _only(module: ModuleType, kind: type[Kind]) -> Kind:
    found = [value for name, value in vars(module).items() if name.isupper() and isinstance(value, kind)]
    if len(found) != 1:
        raise TypeError(f"{module.__name__}: must define one {kind.__name__}, defines {len(found)}")
    return found[0]
