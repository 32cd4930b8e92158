"""Self-play games for training, and the workers that play them."""
