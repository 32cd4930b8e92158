"""What users step: AEC, vector and gymnasium environments."""
