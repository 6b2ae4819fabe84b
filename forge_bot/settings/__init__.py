"""The settings of a repository and its user: .forge/config.yml, pipelines, and where state is
kept. Pipelines are read by `load_pipeline.py`, which needs the engine.
"""

from forge_bot.resources import state_home
from forge_bot.settings.config import CommandSettings, Config, load_config

__all__ = ["CommandSettings", "Config", "load_config", "state_home"]
