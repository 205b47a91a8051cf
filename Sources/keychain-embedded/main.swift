// SPDX-License-Identifier: Apache-2.0
internal import CredentialHelpers
internal import KeychainCommands
internal import KeychainEndpoints
internal import KeychainLinuxSystem
internal import KeychainModel
internal import SecurityTool

// keychainctl, security and the helpers where no daemon is: they become this program, which has the
// service in itself, and goes on under the name that it was started by.
let call = HelperProgram.Call(CommandLine.arguments)
let name =
    call?.name
    ?? (CommandLine.arguments.first == SecurityProgram.name ? SecurityProgram.name : "keychainctl")
let program =
    ["../../bin/" + name, name].lazy
    .compactMap(InstalledProgram.sibling).first { FileIdentity($0) != nil }
let endpoint: CommandProgram.Endpoint = {
    Result { () throws(RequestError) in try KeychainEndpointChoice.embedded(as: program) }
}
if let call { HelperProgram.run(call, asking: endpoint) }
if name == SecurityProgram.name { SecurityProgram.run(asking: endpoint) }
CommandProgram.run(KeychainCommand.self, asking: endpoint)
