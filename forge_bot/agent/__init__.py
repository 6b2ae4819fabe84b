"""A model at work. It answers turn by turn and never holds a tool.

Its requests are fulfilled for it.  `loop.work` performs one assignment. `conversation` is the
conversation as a value. `models` are the available models, `providers` the available context.
`edits` turns a finished change into files. `journal` and `ledger` prevent paying or doing anything
twice.
"""
