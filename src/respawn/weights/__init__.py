"""Trained weights that come with the package: NAME.json says what they are, and NAME.safetensors holds them."""
