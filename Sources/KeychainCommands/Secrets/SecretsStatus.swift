// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// Which program answers to `org.freedesktop.secrets` on the user's bus, and whether the bus would start
/// keychain-secrets.
struct SecretsStatus {
    enum Owner: Equatable {
        case noBus
        case free
        /// `program` is empty where it can't be told.
        case process(Int32, program: String)
    }

    private static let program = "../libexec/keychain/keychain-secrets"
    private static let embedded = "keychain-secrets-embedded"
    private static let longestAnswer = 8192
    private static let patience = 15.0

    let owner: Owner
    /// By a file of the user's own, or by the package keychain-secret-service for all users.
    let isEnabled: Bool
    /// By which the desktop's portal asks for sandboxed applications; nil where it does not.
    let portal: String?

    init(_ owner: Owner, isEnabled: Bool, portal: String? = nil) {
        self.owner = owner
        self.isEnabled = isEnabled
        self.portal = portal
    }

    init() throws(CommandFailure) {
        let files = try SecretsFiles()
        isEnabled = BusActivation(data: files.data).isOurs
        portal = PortalFile(data: files.data).path
        owner = Self.asked().flatMap(Self.owner) ?? .noBus
    }

    /// keychain-secrets can talk to a bus; this program can't.
    private static func asked() -> String? {
        let address = ProcessEnvironment["DBUS_SESSION_BUS_ADDRESS"].map { [$0] } ?? []
        guard let program = InstalledProgram.companion("keychain-secrets"),
            let said = try? ChildOutput(
                of: program, ["--owner"] + address, limit: longestAnswer,
                deadlineSeconds: patience),
            said.status?.isSuccess == true
        else { return nil }
        return String(validating: said.bytes, as: UTF8.self)
    }

    static func owner(_ said: String) -> Owner? {
        let line = said.prefix { $0 != "\n" }
        if line == "free" { return .free }
        let words = line.split(separator: " ", maxSplits: 1)
        guard let first = words.first, let process = Int32(first) else { return nil }
        return .process(process, program: words.count > 1 ? String(words[1]) : "")
    }

    /// Whether all programs are one there (`keychain-secrets --embedded`).
    var isShared: Bool {
        guard case .process(_, let program) = owner else { return false }
        return program.split(separator: "/").last.map { $0 == Self.embedded } ?? false
    }

    var text: String {
        let owned =
            switch owner {
            case .noBus: "no bus of this user's answers\n"
            case .free: "org.freedesktop.secrets: no program has the name now\n"
            case .process(let process, let program):
                "org.freedesktop.secrets: \(program.isEmpty ? "unknown" : program)"
                    + ", process \(process)\n"
            }
        let shared =
            isShared ? "It keeps its user's own files: all programs share one set of items\n" : ""
        let enabled =
            isEnabled
            ? "keychain-secrets is started by the bus when it is asked for\n"
            : "keychain-secrets is not enabled for this user\n"
        let asked =
            portal.map { "sandboxed applications: by the desktop's portal, as \($0) says\n" }
            ?? "sandboxed applications: the desktop's portal has no keychain.portal\n"
        return owned + shared + enabled + asked
    }
}

/// What `secrets status --json` says.
struct SecretsStatusRecord: Encodable {
    let bus: Bool
    let enabled: Bool
    let process: Int32?
    let program: String?
    /// Whether all programs share one set of items.
    let shared: Bool
    let portal: String?

    init(_ status: SecretsStatus) {
        shared = status.isShared
        portal = status.portal
        enabled = status.isEnabled
        bus = status.owner != .noBus
        guard case .process(let process, let program) = status.owner else {
            self.process = nil
            self.program = nil
            return
        }
        self.process = process
        self.program = program.isEmpty ? nil : program
    }
}
