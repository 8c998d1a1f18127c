"""What makes a reading a leak: where it stands, what it is, whom it calls, what debris a structured call carries."""
