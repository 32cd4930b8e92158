"""The environments: AEC, vector and gymnasium."""
