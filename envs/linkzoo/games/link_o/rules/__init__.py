"""The compiled rules of LINK-O, by stage of play."""
