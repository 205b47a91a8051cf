// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainDaemonClient
internal import KeychainEndpoints
internal import KeychainLinuxSystem
internal import KeychainMessages
internal import KeychainModel
internal import MessageBus
internal import SecretService
internal import Terminal

// keychain-secrets where no daemon is: the service in the own process, with one group for all that
// ask.
let name = "keychain-secrets"
guard case .embedded(let unlocks) = SecretsInvocation(Array(CommandLine.arguments.dropFirst()))
else {
    StandardStream.error.write(SecretsInvocation.usage)
    exit(2)
}
try? ProcessHardening.apply()
ProcessHardening.boundMemory()
guard DaemonSocket.ofThisProcess == nil else {
    exit(
        SecretsProgram.complain(
            name, "the keychain service is installed here: --embedded is for machines without it"))
}
do throws(RequestError) {
    let keychain = try KeychainEndpointChoice.embedded(as: nil)
    if unlocks { try FirstUnlock(keychain).run() }
    let address = BusAddress.ofThisProcess(user: getuid())
    // At once: other threads may be in libcrypto, which `exit` would clean up.
    _exit(SecretsProgram.serve(name, at: address, EmbeddedPeers(keychain)))
} catch {
    exit(SecretsProgram.complain(name, "the keychain can't be opened: \(error)"))
}
