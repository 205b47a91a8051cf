// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import MessageBus
internal import SecretService
internal import Terminal

// This program has a group that its starter has not: nothing of the starter's is trusted but the
// words on the command line, and where a socket is.
let name = "keychain-secrets"
let words = Array(CommandLine.arguments.dropFirst())
switch SecretsInvocation(words) {
case .daemon:
    let address = BusAddress.ofThisProcess(user: getuid())
    clearenv()
    do {
        try InheritedDescriptors.tidy(closingFrom: 3)
        try ProcessHardening.apply()
    } catch {
        exit(SecretsProgram.complain(name, "the process can't be protected from its starter"))
    }
    guard UserGroup.isOwn(DeputyKeychains.group) else {
        exit(
            SecretsProgram.complain(
                name,
                "it has not the group \(DeputyKeychains.group), by which the keychain knows it: "
                    + "it is not installed, or was started where no program gets the group of "
                    + "its file"))
    }
    ProcessHardening.boundMemory()
    // At once: other threads may be in libcrypto, which `exit` would clean up.
    _exit(SecretsProgram.serve(name, at: address, DeputyKeychains()))
case .embedded:
    // Another program has the service in itself, and this one's group is none of its business. It is
    // installed beside this one.
    let embedded = SecretsProgram.embedded
    let beside = InstalledProgram.sibling(embedded).flatMap {
        InstalledProgram.isTrusted($0) ? $0 : nil
    }
    guard (try? Privileges.dropForeignGroup()) != nil,
        let program = beside ?? InstalledProgram.companion(embedded)
    else { exit(SecretsProgram.complain(name, "keychain-secrets-embedded is not there")) }
    _ = ForegroundProgram.replaceThisProcess(with: program, as: name, arguments: words)
    exit(SecretsProgram.complain(name, "keychain-secrets-embedded can't be started"))
case .owner(let address):
    // Nothing here takes the group, and the starter chose the descriptor.
    guard (try? Privileges.dropForeignGroup()) != nil else { exit(1) }
    let place = address.map { BusAddress($0) } ?? BusAddress.ofThisProcess(user: getuid())
    exit(SecretsProgram.tellOwner(at: place))
case .help:
    StandardStream.output.write(SecretsInvocation.usage)
    exit(0)
case .wrong:
    StandardStream.error.write(SecretsInvocation.usage)
    exit(2)
}
