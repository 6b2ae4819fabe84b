"""Who is on call: a rota in a text file."""
