"""Commands of the project: installed, isolated, run, and tidied up after."""
