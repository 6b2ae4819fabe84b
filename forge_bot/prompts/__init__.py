"""What a model is given to read: strangers' text made safe, and the prompts around it."""
