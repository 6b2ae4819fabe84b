"""One run on disk, for every host: begun, found, gone on with, told."""
