import sys

from rota.cli import main

sys.exit(main(sys.argv[1:]))
