"""A page in the browser to play, watch, replay and understand games (`linkzoo serve`)."""
