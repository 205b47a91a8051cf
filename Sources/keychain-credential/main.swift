// SPDX-License-Identifier: Apache-2.0
internal import CredentialHelpers
internal import KeychainDaemonClient

guard let call = HelperProgram.Call(CommandLine.arguments) else { HelperProgram.endWithUsage() }
// Where no daemon is, another program goes on that has the service in itself.
guard let socket = DaemonSocket.ofThisProcess else { HelperProgram.becomeEmbedded(call) }
HelperProgram.run(call) { .success(RemoteKeychain(socket: socket)) }
