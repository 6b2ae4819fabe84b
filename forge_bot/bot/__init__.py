"""The bot in GitHub Actions: issues and comments in, comments and pull requests out."""
