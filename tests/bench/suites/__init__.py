"""The suites by their names, in the order in which they run."""
from suites.cold import cold
from suites.loaders import loaders
from suites.warm import warm

SUITES = {"warm": warm, "loaders": loaders, "cold": cold}
