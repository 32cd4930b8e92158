"""Names of environments, made from a game's name and version."""


def versioned_name(name: str, version: int) -> str:
    """Returns the name of a game's environment, such as `love_links_v0`."""
    return f"{name}_v{version}"


def gymnasium_id(name: str, version: int) -> str:
    """Returns the id of a game's environment in Gymnasium, such as `linkzoo/LoveLinks-v0`."""
    title = "".join(word.capitalize() for word in name.split("_"))
    return f"linkzoo/{title}-v{version}"
