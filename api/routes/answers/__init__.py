"""What the routes answer, a module a kind: the keys that stay. More may follow, so a reader must pass over what it
does not know."""
