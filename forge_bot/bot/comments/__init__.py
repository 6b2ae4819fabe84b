"""The texts that people read on GitHub, made by pure functions from a run's state to Markdown. No
files, no network, no clock.

Everything is made from one frozen `View`, and from sentences of one catalogue (`replies`,
`failures`). The same view gives the same bytes. Words of models and strangers go through `escape`,
long texts through `fold`, and every comment through `fit`.
"""
