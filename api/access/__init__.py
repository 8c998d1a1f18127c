"""Who may do what: keys, the scope that each route asks for, signing in by key, and the door before every request."""
