"""A model at work: asked turn by turn, never holding a tool; what it wishes to see is looked up for it.

`work.work` performs one assignment; `exploration` is the conversation as a value; `models` are what can be asked, `context` what
can be shown; `edits` turns a finished change into files; `journal` and `ledger` see to it that nothing is paid or done twice.
"""
