"""Steps of pipelines: what they take, what they call, and what a person is asked before them."""
