"""The suites by their names, in the order in which they run."""
from suites.warm import warm

SUITES = {"warm": warm}
