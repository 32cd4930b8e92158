"""`make fuzz`: wrong and damaged input, made from seeds, until something breaks.

A subject (a module of `subjects`) turns a number into one mutant and tries it: `warm(game, folder)`
prepares a game, and `attempt(dice, game, folder)` makes the mutant that the dice decide and returns
True if it was accepted and could be used, False if it was refused as it should be. Whatever it
raises is a finding, as are the death of its process, a time limit and a memory limit. `folder` is
for the files of mutants and of what they are made from.

A mutant is a function of (seed, subject, game, number): the line that a finding ends with repeats
it.
"""
