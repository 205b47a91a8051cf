// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// The rules that made a request fail, by their ids: a refusal is one word, and this is the rest.
public final class Because: Sendable {
    private static let most = 16
    private struct Noted {
        var rules: [String] = []
        var place: String?
    }
    private let noted = Mutex(Noted())

    public init() {}

    /// Their ids.
    public var rules: [String] { noted.withLock { $0.rules } }

    /// The same for people: the first of them with its place.
    public var words: [String] {
        noted.withLock { noted in
            guard let first = noted.rules.first, let place = noted.place else { return noted.rules }
            return ["\(first) (\(place))"] + noted.rules.dropFirst()
        }
    }

    func note(_ rules: [String], first place: String? = nil) {
        noted.withLock { noted in
            if noted.place == nil { noted.place = place }
            for rule in rules where !noted.rules.contains(rule) && noted.rules.count < Self.most {
                noted.rules.append(rule)
            }
        }
    }
}
