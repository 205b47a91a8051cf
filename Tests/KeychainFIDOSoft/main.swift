// SPDX-License-Identifier: Apache-2.0
// keychain-fido with security keys in software in the place of those that are plugged in, for the
// system tests, whose private world is given this program instead of the other. The keys are the
// lines of a file: a seed; `touched`, `silent` or neither; a PIN, or nothing. Each is a process of its
// own, which keeps its rights as a device does.
import Foundation
import Glibc
import KeychainLinuxSystem
import SecurityKeys
import SoftwareSecurityKey

func key(_ line: String) -> SoftwareSecurityKey {
    let words = line.split(separator: " ").map(String.init)
    let key = SoftwareSecurityKey(
        seed: Array(words[0].utf8), pin: words.count > 2 ? words[2] : nil,
        isSilent: words[1] == "silent")
    key.isTouched = words[1] == "touched"
    return key
}

/// It ends with the device.
func plugIn(_ line: String) -> Descriptor {
    let (device, own) = SoftwareSecurityKey.device()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, own.number, 0)
    // The exchange's, which is not closed by itself.
    posix_spawn_file_actions_addclose(&actions, 3)
    let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("key"), strdup(line), nil]
    let environment: [UnsafeMutablePointer<CChar>?] = [nil]
    var process = pid_t()
    guard posix_spawn(&process, "/proc/self/exe", &actions, nil, arguments, environment) == 0
    else { fatalError("no process for the key") }
    return device
}

if CommandLine.arguments.first == "key" {
    key(CommandLine.arguments[1]).work(on: Descriptor(owning: 0))
    exit(0)
}
let text = (try? String(contentsOfFile: "/etc/keychain/software-keys", encoding: .utf8)) ?? ""
let lines = text.split(separator: "\n").map(String.init)
SecurityKeyExchange.run(CommandLine.arguments) { lines.map(plugIn) }
