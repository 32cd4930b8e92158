"""Web interface to play, watch, replay and analyse games (`linkzoo serve`)."""
