"""What was acknowledged stays, whatever happens: kills, full disks, old schemas, damaged files."""
