"""Property tests measure what is true, not how busy the machine is."""

from hypothesis import HealthCheck, settings

settings.register_profile("goldnode", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("goldnode")
