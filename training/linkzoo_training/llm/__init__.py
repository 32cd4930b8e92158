"""Language models as agents, and a benchmark for them.

Nothing else imports this folder but commands: `agents.extensions` finds `agent.py` in it.
"""
