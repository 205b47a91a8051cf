// SPDX-License-Identifier: Apache-2.0
internal import KeychainCommands
internal import KeychainDaemonClient

// Policies need a compiler, and embedded mode the whole service: programs of their own have them, so
// that the commands of every day start without.
let arguments = CommandLine.arguments.dropFirst()
let wantsPolicy = arguments.first == "policy" || arguments.starts(with: ["help", "policy"])
// These tell of all commands.
let tellsAll = arguments.contains {
    $0.hasPrefix("--generate-completion-script") || $0.hasPrefix("--experimental-dump-help")
        || $0.hasPrefix("---completion")
}
if wantsPolicy || tellsAll { CommandProgram.become("keychainctl-policy") }
guard let socket = DaemonSocket.ofThisProcess else { CommandProgram.become("keychain-embedded") }
CommandProgram.run(KeychainCommand.self) { .success(RemoteKeychain(socket: socket)) }
