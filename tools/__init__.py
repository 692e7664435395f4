"""What `make` calls: install, find Java, refresh the lock, report conformance."""
