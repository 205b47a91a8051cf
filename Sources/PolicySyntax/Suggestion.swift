// SPDX-License-Identifier: Apache-2.0

/// What the author of an unknown word may have meant.
package enum Suggestion {
    /// Longer words are not compared.
    private static let longest = 40

    /// `did you mean "exe"?`, or the words there are where none is near and they are few.
    package static func advice(for word: String, among known: [String]) -> String? {
        let near = meant(by: word, among: known) ?? nearest(to: word, among: known)
        if let near { return "did you mean \"\(near)\"?" }
        guard known.count <= 16, !known.isEmpty else { return nil }
        return "one of: " + known.joined(separator: ", ")
    }

    /// The words of other systems' policies, and of everyday speech, for ours.
    private static let others: [String: [String]] = [
        "allow": ["permit"], "accept": ["permit"], "grant": ["permit"],
        "deny": ["forbid", "deny"], "refuse": ["forbid"], "reject": ["forbid"],
        "except": ["unless"], "condition": ["when"], "conditions": ["when"], "who": ["subject"],
        "action": ["operations"], "actions": ["operations"], "item": ["resource"],
        "object": ["resource"], "read": ["read-secret"], "get": ["read-secret"],
        "list": ["read-attributes"], "search": ["read-attributes"], "create": ["add"],
        "modify": ["update"], "change": ["update"], "edit": ["update"], "remove": ["delete"],
        "path": ["exe"], "program": ["exe", "process"], "command": ["exe"], "binary": ["exe"],
        "executable": ["exe"], "process": ["exe"], "systemd-unit": ["unit"], "flatpak": ["app"],
        "snap": ["app"], "selinux": ["label"], "apparmor": ["label"], "username": ["user"],
        "hostname": ["host"], "password": ["passcode"], "pin": ["passcode"],
        "fingerprint": ["biometry"], "touch": ["presence"], "user-presence": ["presence"],
        "consent": ["confirm"], "yubikey": ["companion"], "security-key": ["companion"],
        "fido2": ["companion"], "login": ["session"], "terminal": ["tty"], "url": ["server"],
        "domain": ["server"], "locked": ["screen-locked"], "ssh": ["remote"],
    ]

    private static func meant(by word: String, among known: [String]) -> String? {
        others[word.lowercased()]?.first(where: known.contains)
    }

    package static func nearest(to word: String, among known: [String]) -> String? {
        let written = Array(word.lowercased().utf8)
        guard written.count <= longest else { return nil }
        let allowed = max(1, written.count / 3)
        let ranked = known.map { (word: $0, distance: distance(written, Array($0.utf8))) }
            .filter { $0.distance <= allowed }
        if let best = ranked.min(by: { ($0.distance, $0.word) < ($1.distance, $1.word) }) {
            return best.word
        }
        let longer = known.filter { written.count >= 3 && $0.utf8.starts(with: written) }
        return longer.count == 1 ? longer.first : nil
    }

    /// Insertions, deletions, replacements and swaps of neighbours between the two.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        guard b.count <= longest else { return longest }
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for (i, first) in a.enumerated() {
            var row = [i + 1]
            for (j, second) in b.enumerated() {
                var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (first == second ? 0 : 1))
                if i > 0, j > 0, first == b[j - 1], a[i - 1] == second {
                    best = min(best, beforeLast[j - 1] + 1)
                }
                row.append(best)
            }
            (beforeLast, last) = (last, row)
        }
        return last[b.count]
    }
}
