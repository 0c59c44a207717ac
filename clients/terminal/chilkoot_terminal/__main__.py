"""``python -m chilkoot_terminal``: the text client by itself."""

import sys

from chilkoot_terminal.app import main

sys.exit(main())
