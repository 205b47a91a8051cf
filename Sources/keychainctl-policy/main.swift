// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainCommands
internal import KeychainDaemonClient
internal import KeychainModel

/// keychainctl with the commands that need the policies' compiler.
struct WholeCommand: ParsableCommand {
    static let configuration: CommandConfiguration = KeychainCommand.whole(
        policy: PolicyCommand.self)
}

CommandProgram.run(WholeCommand.self) {
    guard let socket = DaemonSocket.ofThisProcess else { return .failure(.failed(.notAvailable)) }
    return .success(RemoteKeychain(socket: socket))
}
