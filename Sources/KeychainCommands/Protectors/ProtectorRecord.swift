// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainModel
internal import Terminal

extension Protector.Kind {
    /// As it is typed and shown.
    var word: String {
        switch self {
        case .password: "password"
        case .device: "device"
        case .recoveryKey: "recovery-key"
        case .tpm: "tpm2"
        case .credential: "credential"
        case .securityKey: "fido2"
        }
    }
}

/// A protector as `--json` shows it. The names of its keys are fixed: scripts depend on them.
struct ProtectorRecord: Encodable {
    let id: String
    let kind: String
    let atLogin: Bool
    /// An ISO 8601 time.
    let added: String?
    let pcrs: [UInt8]?
    let credential: String?
    /// Only of a security key.
    let pin: Bool?

    init(_ protector: Protector) {
        id = protector.identifier
        kind = protector.kind.word
        atLogin = protector.opensAtLogin
        added = protector.made == 0 ? nil : Self.time(protector.made)
        pcrs = protector.kind == .tpm ? protector.registers : nil
        credential = protector.credential
        pin = protector.kind == .securityKey ? protector.usesPIN : nil
    }

    private static func time(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(seconds)).ISO8601Format()
    }
}

/// Protectors for people.
enum ProtectorText {
    static func table(_ protectors: [Protector]) -> String {
        protectors.map { line($0) + "\n" }.joined()
    }

    private static func line(_ protector: Protector) -> String {
        let id = padded(protector.identifier, 10)
        let words = [id + protector.kind.word] + remarks(protector)
        return PlainText.line(words.joined(separator: ", "))
    }

    private static func remarks(_ protector: Protector) -> [String] {
        var remarks: [String] = []
        if let name = protector.credential { remarks.append("“\(name)”") }
        if !protector.registers.isEmpty {
            let numbers = protector.registers.map { String($0) }.joined(separator: ", ")
            remarks.append("while PCRs are as they were: \(numbers)")
        }
        if protector.usesPIN { remarks.append("with its PIN") }
        if protector.opensAtLogin { remarks.append("opens at a login without a password") }
        if let added = ProtectorRecord(protector).added { remarks.append("added \(added)") }
        return remarks
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
