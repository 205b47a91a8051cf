// SPDX-License-Identifier: Apache-2.0
internal import KeychainDaemonClient
internal import SecurityTool

// Where no daemon is, another program goes on that has the service in itself.
guard let socket = DaemonSocket.ofThisProcess else { SecurityProgram.becomeEmbedded() }
SecurityProgram.run { .success(RemoteKeychain(socket: socket)) }
