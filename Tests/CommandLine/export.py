# SPDX-License-Identifier: Apache-2.0
"""keychainctl export at a terminal."""

import sys

from person import Person

plain = ("keychainctl", "export", sys.argv[1], "--unencrypted")
Person(*plain).sees("[y/N]").answers("n\n").leaves()
Person(*plain).sees("[y/N]").answers("y\n").leaves()
