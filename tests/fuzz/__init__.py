"""Properties that hold for wrong and damaged input: `make fuzz MINUTES=10 SEED=1`.

For any argument a function gives a right answer or raises a ValueError that names the fault, and a
refusal leaves everything as it was. `strategies.py` and `positions.py` make the input; each
`test_*.py` holds the properties of one area. A property runs one round of examples in the normal
suite, always the same ones. `make fuzz` repeats the rounds with new seeds until the time is over
(`conftest.py`).
"""
