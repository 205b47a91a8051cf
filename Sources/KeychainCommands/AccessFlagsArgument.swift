// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainModel

/// What must be proven before an item opens: names of flags with commas between them.
struct AccessFlagsArgument {
    let flags: AccessControlFlags

    private static let flagsByName: [(name: String, flag: AccessControlFlags)] = [
        ("user-presence", .userPresence),
        ("device-passcode", .devicePasscode),
        ("biometry-any", .biometryAny),
        ("biometry-current-set", .biometryCurrentSet),
        ("companion", .companion),
        ("and", .and),
        ("or", .or),
        ("application-password", .applicationPassword),
        ("private-key-usage", .privateKeyUsage),
    ]

    static let completion = CompletionKind.list(["none"] + flagsByName.map(\.name))

    /// `none` stands alone.
    init(_ text: String) throws(ValidationError) {
        var flags: AccessControlFlags = []
        if text != "none" {
            for word in text.split(separator: ",", omittingEmptySubsequences: false) {
                guard let found = Self.flagsByName.first(where: { $0.name == word }) else {
                    throw Self.unknown(String(word))
                }
                flags.insert(found.flag)
            }
        }
        self.flags = flags
    }

    private static func unknown(_ word: String) -> ValidationError {
        let names = flagsByName.map(\.name)
        let meant = UnknownWord.nearest(to: word, of: names).map { "; did you mean “\($0)”?" }
        return ValidationError(
            "there is no flag “\(word)”"
                + (meant ?? "; there are \(names.joined(separator: ", "))"))
    }

    /// nil where the flags contradict each other. No flags are no access control.
    func rights(_ accessibility: Accessibility) -> Rights? {
        guard !flags.isEmpty else { return Rights(accessControl: nil) }
        return flags.accessControl(protecting: accessibility).map(Rights.init)
    }

    struct Rights { let accessControl: ItemAccessControl? }

    static let contradiction = ValidationError(
        """
        These flags exclude each other: “and” and “or”, the two biometry flags, and user-presence \
        beside anything but application-password and private-key-usage.
        """)

    /// The flags that make such an access control; nil for one that no flags make.
    static func names(of accessControl: ItemAccessControl) -> [String]? {
        if accessControl == .plain(accessControl.protection) { return [] }
        let constraint = accessControl.constraint(
            for: accessControl.operations[.decrypt] == nil ? .sign : .decrypt)
        var names: [String] = []
        if case .atLeast(let required, let members) = constraint {
            names = members.compactMap(name) + [required == 1 ? "or" : "and"]
        } else if let name = name(constraint) {
            names = [name]
        }
        if accessControl.needsApplicationPassword { names.append("application-password") }
        if accessControl.operations[.sign] != nil { names.append("private-key-usage") }
        let again = (try? AccessFlagsArgument(names.joined(separator: ",")))?
            .rights(accessControl.protection)?.accessControl
        return again == accessControl ? names : nil
    }

    private static func name(_ constraint: Constraint) -> String? {
        switch constraint {
        case .userPresence: "user-presence"
        case .devicePasscode: "device-passcode"
        case .biometryAny: "biometry-any"
        case .biometryCurrentSet: "biometry-current-set"
        case .companion: "companion"
        case .always, .never, .atLeast: nil
        }
    }
}
