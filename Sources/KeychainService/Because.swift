// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// The rules that made a request fail, by their ids: a refusal is one word, and this is the rest.
public final class Because: Sendable {
    private static let most = 16
    private let noted = Mutex<[String]>([])

    public init() {}

    public var rules: [String] { noted.withLock { $0 } }

    func note(_ rules: [String]) {
        noted.withLock { noted in
            for rule in rules where !noted.contains(rule) && noted.count < Self.most {
                noted.append(rule)
            }
        }
    }
}
