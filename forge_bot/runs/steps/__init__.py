"""Steps of pipelines: their inputs, their calls, and the questions before them."""
