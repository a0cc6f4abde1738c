"""Placeholder until its own commit."""
