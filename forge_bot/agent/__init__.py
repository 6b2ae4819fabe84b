"""A model at work: asked round by round, never holding a tool; what it asks for is looked up for it."""
