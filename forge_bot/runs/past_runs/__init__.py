"""Ended runs, read once and kept: what they took and what they tell."""
