// SPDX-License-Identifier: Apache-2.0
internal import KeychainCommands
internal import KeychainEndpoints
internal import KeychainLinuxSystem
internal import KeychainModel

// keychainctl where no daemon is: it becomes this program, which has the service in itself, and goes
// on under the name of keychainctl.
let program =
    ["../../bin/keychainctl", "keychainctl"].lazy
    .compactMap(InstalledProgram.sibling).first { FileIdentity($0) != nil }
CommandProgram.run(KeychainCommand.self) {
    Result { () throws(Refusal) in try KeychainEndpointChoice.embedded(as: program) }
}
