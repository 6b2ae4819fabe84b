"""A model at work. It answers turn by turn and never holds a tool.

Its requests are fulfilled for it. `converse` leads one conversation for an `assignment`. `models`
are the available models, `providers` and `tools` what they may ask for. `edits` turns a finished
change into files. `journal` and `ledger` prevent paying or doing anything twice.
"""
