import pytest

# What a comparison of two runs shows when it fails is the difference.
pytest.register_assert_rewrite("tests.recovery.kills")
