"""Every error a user can meet: class, stable code, sentence, hint, and the outcome it ends an
invocation with.

    ForgeError
    ├── RequestError      what was asked cannot be done as asked            exit 2
    ├── SetupError        the repository or the machine is not ready        exit 5
    ├── RunError          this run cannot do that now                       exit 5
    ├── ReportRejected    a report that the engine does not take            exit 5
    ├── StateError        what lies on disk cannot be trusted               exit 1
    ├── GitHubError       GitHub could not be asked, or said no             exit 1
    └── ModelError        a model could not be asked, or did not answer     exit 1

Faces translate these; they do not invent sentences of their own. A code never changes its meaning.
"""

from forge_bot.errors.error_base import *
from forge_bot.errors.errors_of_run import *
from forge_bot.errors.errors_outside import *
