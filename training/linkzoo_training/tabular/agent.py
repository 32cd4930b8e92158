"""`tabular:FILE`: plays a policy that is written down for every position.

`linkzoo experiment solve` makes such files.
"""

from linkzoo.exact import TabularAgent


def make_agent(settings: str) -> TabularAgent:
    """Makes the agent `tabular:FILE`; `agents.extensions` calls this.

    Raises:
        ValueError: There is no such file, it is damaged, or it was made for another game.
    """
    if not settings:
        raise ValueError(
            "tabular: name a file, such as tabular:equilibrium.npz (linkzoo experiment solve)"
        )
    return TabularAgent.load(settings)
