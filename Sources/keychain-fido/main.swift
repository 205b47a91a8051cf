// SPDX-License-Identifier: Apache-2.0
internal import SecurityKeys

SecurityKeyProgram.run(CommandLine.arguments) { SecurityKey.plugged() }
