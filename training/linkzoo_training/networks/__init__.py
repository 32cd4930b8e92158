"""Networks, and how a CPU or a GPU runs them."""
