"""One hypothesis profile for all tests: a loaded machine must not fail a property (times belong into tests/benchmarks)."""

from hypothesis import HealthCheck, settings

# The gate tries the same examples each time, or a rare find would stop an unrelated change; `--hypothesis-profile=search` looks for new ones.
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("goldnode", max_examples=60, derandomize=True, **COMMON)
settings.register_profile("search", max_examples=1000, **COMMON)
settings.load_profile("goldnode")
