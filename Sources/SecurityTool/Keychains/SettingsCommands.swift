// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel

/// `set-keychain-settings`, `show-keychain-info`: when a keychain locks by itself.
enum SettingsCommands {
    /// The largest interval stands for no interval.
    private static let never = Int64(Int32.max)

    static let set = Command(
        "set-keychain-settings", "[-l] [-u] [-t seconds] [keychain]",
        "Say what locks a keychain: -l sleep, -t so many seconds without use, nothing neither.",
        letters: "lut:"
    ) { options, session throws(CommandFailure) in
        guard options.words.count <= 1 else { throw .usage }
        let word = options.words.first.map(KeychainWord.init)
        var change = KeychainSettingsChange()
        change.locksOnSleep = options.has("l")
        // -u alone gives no interval.
        let seconds = options["t"].map(PasswordMatch.leadingNumber) ?? never
        change.lockAfterIdle = seconds < never ? UInt32(max(seconds, 1)) : 0
        do throws(RequestError) {
            let name = try session.name(word?.name)
            _ = try session.send(ChangeSettings(keychain: name, change))
        } catch {
            throw CommandFailure(error, "SecKeychainSetSettings", word?.typed ?? "<NULL>")
        }
    }

    static let show = Command(
        "show-keychain-info", "[-s] [keychain]", "Show what locks a keychain.", letters: "s"
    ) { options, session throws(CommandFailure) in
        guard options.words.count <= 1 else { throw .usage }
        let word = options.words.first.map(KeychainWord.init)
        let shown = word?.typed ?? "<NULL>"
        do throws(RequestError) {
            let settings = try session.state(of: word?.name).settings ?? .loosest
            session.output.tell(line(shown, settings))
            guard options.has("s") else { return }
        } catch { throw CommandFailure(error, "SecKeychainCopySettings", shown) }
        session.output.complain("security: -s: the salt stays with the keychain service\n")
    }

    static func line(_ name: String, _ settings: KeychainSettings) -> String {
        var line = "Keychain \"\(name)\""
        if settings.locksOnSleep { line += " lock-on-sleep" }
        guard let seconds = settings.lockAfterIdle else { return line + " no-timeout\n" }
        return line + " use-lock-interval timeout=\(seconds)s\n"
    }
}
