"""What forge-bot costs in time: `python -m benchmarks` measures it and prints one table. Not part
of the package.
"""
