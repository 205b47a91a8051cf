// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import Pinentry
internal import Terminal

// This program runs with a group that its starter lacks, so it trusts only the starter's command
// line. The starter's display is passed on to the pinentry alone, which has no more rights than the
// starter.
let display = DisplayEnvironment()
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
case .register(let place, let socket):
    do throws(ScreenChoice.Failure) {
        let screen = try ScreenChoice.screen(at: place, display)
        exit(RegisteredPrompter(socket, on: screen).run())
    } catch {
        Complaint.say(error.meaning)
        exit(1)
    }
case .challenge(let challenge, let socket): exit(AttachedPrompter(challenge, socket).run())
case .conversation: exit(DirectPrompter().run())
case .help:
    StandardStream.output.write(Invocation.usage)
    exit(0)
case .wrong:
    StandardStream.error.write(Invocation.usage)
    exit(2)
}
