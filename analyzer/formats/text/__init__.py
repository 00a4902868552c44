"""Text forms: console output of the services, of kubectl and of machines, and plain program output."""
