"""The commands of `linkzoo`, one module each; `cli` lists and runs them."""
