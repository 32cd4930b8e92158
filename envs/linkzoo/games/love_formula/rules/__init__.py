"""The rules of Love Formula, by sections of RULES.md."""
