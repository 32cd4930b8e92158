"""`linkzoo tools`: compilation, speed of the machine, export of networks."""
