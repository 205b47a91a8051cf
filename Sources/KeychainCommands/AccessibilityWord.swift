// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainModel

/// When an item can be opened, by the names people use.
struct AccessibilityWord: ExpressibleByArgument, Equatable {
    let accessibility: Accessibility

    init(_ accessibility: Accessibility) { self.accessibility = accessibility }

    init?(argument: String) {
        guard let found = Accessibility.allCases.first(where: { Self.name($0) == argument }) else {
            return nil
        }
        self.init(found)
    }

    /// Too many for a screen; keychainctl(1) has them.
    static var allValueStrings: [String] { [] }
    static var defaultCompletionKind: CompletionKind { .list(Accessibility.allCases.map(name)) }
    var defaultValueDescription: String { Self.name(accessibility) }

    static func name(_ accessibility: Accessibility) -> String {
        switch accessibility {
        case .whenUnlocked: "when-unlocked"
        case .afterFirstUnlock: "after-first-unlock"
        case .always: "always"
        case .whenUnlockedThisDeviceOnly: "when-unlocked-this-device-only"
        case .afterFirstUnlockThisDeviceOnly: "after-first-unlock-this-device-only"
        case .alwaysThisDeviceOnly: "always-this-device-only"
        case .whenPasscodeSetThisDeviceOnly: "when-passcode-set-this-device-only"
        }
    }
}
