# SPDX-License-Identifier: Apache-2.0
# How C is compiled here: the module, keychain-starter, and keychain-audit.
WARNINGS = -Wall -Wextra -Werror -Wconversion -Wshadow -Wformat=2 -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Wswitch-enum
HARDENING = -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -fcf-protection \
	-ftrivial-auto-var-init=zero
SANITIZERS = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
