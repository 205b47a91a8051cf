# SPDX-License-Identifier: Apache-2.0
"""keychainctl policy init at a terminal."""

from person import Person

asked = Person("keychainctl", "policy", "init", "asked")
asked.sees("server, laptop or shared? [laptop] ").types("server\n")
asked.sees("as backup.service? ").types("backup.service, mail-fetch.service\n")
asked.sees("put them in place? ").types("operators\n")
asked.sees("Which? [ssh export] ").types("ssh reading\n")
asked.leaves()

# An answer that makes no policy, and none at all.
Person("keychainctl", "policy", "init", "other").sees("[laptop] ").types("castle\n").leaves()
Person("keychainctl", "policy", "init", "other").sees("[laptop] ").types("\x03").leaves()
laptop = Person("keychainctl", "policy", "init", "other").sees("[laptop] ").types("\n")
laptop.sees("[reading export locked] ").types("\n").leaves()
