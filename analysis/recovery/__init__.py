"""What followed a leak."""
