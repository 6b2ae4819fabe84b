"""Build prompts: untrusted text made safe, and the templates around it."""
