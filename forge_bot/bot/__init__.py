"""The GitHub bot: a supervisor that holds the token and runs no model, and a worker that runs the
model and holds no token.
"""
