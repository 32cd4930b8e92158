"""The environments: AEC, vector and gymnasium, for one game and for many."""
