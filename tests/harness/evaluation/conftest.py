"""The toy benchmark is a module of its own, as a user's would be."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
