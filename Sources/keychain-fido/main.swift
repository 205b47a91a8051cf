// SPDX-License-Identifier: Apache-2.0
internal import SecurityKeys

SecurityKeyExchange.run(CommandLine.arguments, opening: PluggedKeys.open)
