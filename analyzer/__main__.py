"""`python -m analyzer` is `diagnose`."""

import sys

from analyzer.cli import main

sys.exit(main())
