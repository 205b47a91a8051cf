// SPDX-License-Identifier: Apache-2.0
// keychain-fido with security keys in software in the place of those that are plugged in, for the
// system tests, whose private world is given this program instead of the other. The keys are the
// lines of a file: a seed; `touched` or not; a PIN, or nothing.
import Foundation
import SecurityKeys
import SoftwareSecurityKey

let text = (try? String(contentsOfFile: "/etc/keychain/software-keys", encoding: .utf8)) ?? ""
let keys = text.split(separator: "\n").map { line in
    let words = line.split(separator: " ").map(String.init)
    let key = SoftwareSecurityKey(
        seed: Array(words[0].utf8), pin: words.count > 2 ? words[2] : nil)
    key.isTouched = words[1] == "touched"
    return key
}
SecurityKeyExchange.run(CommandLine.arguments) { keys.compactMap { $0.plugged() } }
