"""`linkzoo llm`: language models."""
