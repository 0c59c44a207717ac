"""`python3 server`: serve the games from this checkout."""

import sys

from bootstrap import serve

serve(sys.argv[1:])
