"""Trainers: PPO and AlphaZero, on one machine or many."""
