"""``python -m chilkoot.cli``: the same as the command `chilkoot`."""

import sys

from chilkoot.cli.program import main

sys.exit(main())
