// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel
internal import Terminal

struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "Say what closes a keychain, and when.",
        discussion: """
            Without options it shows what is in force. An administrator's bounds count as well; \
            the tighter wins. The keychain must be open, and to keep it open longer asks for you.
            """)

    @Argument(help: "The keychain's name; the login keychain when left out.")
    var name: String?

    @Option(help: "Close it when it was not used for so long: 90s, 15m, 8h, 1d or never.")
    var lockAfterIdle: LockTime?

    @Option(help: "Close it so long after it was unlocked, used or not.")
    var lockAfter: LockTime?

    @Option(help: "Close it when the machine goes to sleep.")
    var lockOnSleep: YesOrNo?

    @Option(help: "Close it when a session of yours is locked.")
    var lockWithScreen: YesOrNo?

    @OptionGroup var output: OutputOptions

    private var shown: String { name ?? KeychainName.login.description }

    func run() throws {
        let keychain = Keychain(name: name, asJSON: output.json)
        guard change.isEmpty else {
            try keychain.ask(
                ChangeSettings(keychain: name, change),
                to: "change the settings of the keychain “\(shown)”")
            if output.json { JSONOutput.write(DoneRecord()) }
            return
        }
        let status = try keychain.status().keychains.first { $0.name == shown }
        guard let settings = status?.settings else {
            throw keychain.failure(
                CommandFailure(
                    status?.problem
                        ?? (status == nil ? .state(.noSuchKeychain) : .invalid(.notImplemented)),
                    "show the settings of the keychain “\(shown)”", keychain: name))
        }
        if output.json {
            JSONOutput.write(SettingsRecord(settings))
        } else {
            StandardStream.output.write(SettingsText.lines(settings).joined(separator: "\n") + "\n")
        }
    }

    private var change: KeychainSettingsChange {
        var change = KeychainSettingsChange()
        change.lockAfterIdle = lockAfterIdle?.seconds
        change.lockAfter = lockAfter?.seconds
        change.locksOnSleep = lockOnSleep.map { $0 == .yes }
        change.locksWithScreen = lockWithScreen.map { $0 == .yes }
        return change
    }
}

enum YesOrNo: String, ExpressibleByArgument, CaseIterable { case yes, no }

/// A time, or never.
struct LockTime: ExpressibleByArgument {
    /// 0 is never.
    let seconds: UInt32

    init?(argument: String) {
        if argument == "never" {
            seconds = 0
        } else {
            guard let span = TimeSpan(argument) else { return nil }
            seconds = span.seconds
        }
    }
}

/// The settings as `--json` shows them; times in seconds, absent for never.
struct SettingsRecord: Encodable {
    let lockAfterIdle: UInt32?
    let lockAfter: UInt32?
    let lockOnSleep: Bool
    let lockWithScreen: Bool

    init(_ settings: KeychainSettings) {
        lockAfterIdle = settings.lockAfterIdle
        lockAfter = settings.lockAfter
        lockOnSleep = settings.locksOnSleep
        lockWithScreen = settings.locksWithScreen
    }
}

/// The settings for people.
enum SettingsText {
    static func lines(_ settings: KeychainSettings) -> [String] {
        [
            "lock after idle: \(time(settings.lockAfterIdle))",
            "lock after: \(time(settings.lockAfter))",
            "lock on sleep: \(settings.locksOnSleep ? "yes" : "no")",
            "lock with the screen: \(settings.locksWithScreen ? "yes" : "no")",
        ]
    }

    private static func time(_ seconds: UInt32?) -> String {
        seconds.map { TimeSpan(seconds: $0).description } ?? "never"
    }
}
