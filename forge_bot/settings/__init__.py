"""The settings of a repository: .forge/config.yml, and pipelines, which are read by
`load_pipeline.py`: it needs the engine.
"""

from forge_bot.settings.config import CommandSettings, Config, load_config

__all__ = ["CommandSettings", "Config", "load_config"]
