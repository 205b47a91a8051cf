// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import LocalSocket
internal import Terminal

// This program has a group that its starter has not: nothing of his is trusted but the words on the
// command line.
clearenv()
let form = Invocation(Array(CommandLine.arguments.dropFirst()))
do {
    try InheritedDescriptors.tidy(closingFrom: form == .conversation ? 4 : 3)
    try ProcessHardening.apply()
} catch {
    Complaint.say("the process can't be protected from its starter; nothing was asked")
    exit(1)
}
switch form {
case .register(let socket): exit(RegisteredPrompter(socket).run())
case .challenge(let challenge, let socket): exit(AttachedPrompter(challenge, socket).run())
case .conversation: exit(DirectPrompter().run())
case .help:
    StandardStream.output.write(Invocation.usage)
    exit(0)
case .wrong:
    StandardStream.error.write(Invocation.usage)
    exit(2)
}
