"""What a game is: the contract, its record, observation, options and kernels. Knows no environment."""
