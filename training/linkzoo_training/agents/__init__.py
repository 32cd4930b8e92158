"""Everything that plays, behind `linkzoo.Agent`."""
