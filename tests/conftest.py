"""One hypothesis profile for all tests: a loaded machine must not fail a property (times belong into tests/benchmarks)."""

from hypothesis import HealthCheck, settings

settings.register_profile("goldnode", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("goldnode")
