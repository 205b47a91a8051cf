// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// An item as a person names it: `mail`, or `mail/me` where the account is said too.
struct ItemName: Equatable {
    let text: String

    init(_ text: String) { self.text = text }

    /// Of what has a service, its name is the service; of what has a server, the server.
    init(_ item: Item) {
        func text(_ name: AttributeName) -> String? {
            if case .string(let text)? = item.attributes[name], !text.isEmpty { text } else { nil }
        }
        var place = text(.label) ?? ""
        switch item.reference.itemClass {
        case .genericPassword: place = text(.service) ?? place
        case .internetPassword:
            place = text(.server) ?? place
            if case .number(let port)? = item.attributes[.port], port > 0 { place += ":\(port)" }
        case .certificate, .key, .attributed: break
        }
        self.text = text(.account).map { place + "/" + $0 } ?? place
    }

    /// What stands before the last slash and what stands behind it; nil where one of them is empty.
    var parts: (place: String, account: String)? {
        guard let slash = text.lastIndex(of: "/") else { return nil }
        let account = text[text.index(after: slash)...]
        guard slash != text.startIndex, !account.isEmpty else { return nil }
        return (String(text[..<slash]), String(account))
    }

    /// The host and the port of `host:port`.
    static func hostAndPort(_ place: String) -> (host: String, port: UInt16)? {
        guard let colon = place.lastIndex(of: ":"), colon != place.startIndex,
            let port = UInt16(place[place.index(after: colon)...])
        else { return nil }
        return (String(place[..<colon]), port)
    }
}
