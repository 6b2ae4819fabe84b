"""The texts that people read on GitHub, made by pure functions from a run's state to Markdown. No
files, no network, no clock.

Everything is made from one frozen `RunView` and the replies of `replies.toml`. The same view gives
the same bytes. Words of models and strangers go through `escape`, long texts through `fold`, and
every comment through `compose`.
"""
