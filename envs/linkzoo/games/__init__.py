"""The games that ship with linkzoo, one folder each, with the same files for the same roles."""

# The version of each game, the number in its environment's name: `linkage_v0`.
VERSIONS = {"linkage": 0, "love_links": 0, "link_o": 0, "love_formula": 0}
# Their first files counted from 1; the next change of rules, observations or rewards makes 2.
COMPATIBLE_VERSIONS = (1,)
