"""The games that trainers learn from, and the workers that play them."""
