"""Checkpoints: weights, cards and fingerprints."""
