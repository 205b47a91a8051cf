// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
internal import KeychainModel
package import KeychainPolicyEngine
package import KeychainPolicyModel
internal import LoginManager
package import LoginRegistry

/// What policies ask about the caller's login session and the moment (docs/policies.md, When: the
/// circumstances).
package struct SessionAttributes: Sendable {
    private static let host: String = {
        let name = KernelFile.read("/proc/sys/kernel/hostname", limit: 256) ?? []
        let line = String(decoding: name, as: UTF8.self).split(separator: "\n").first
        return line?.lowercased() ?? ""
    }()
    private static let remoteDesktops = ["xrdp", "vnc", "gnome-remote-desktop"]
    private static let clockTicks: Int64 = 100

    private let session: LoginSession?
    private let process: PinnedProcess?
    private let screens: ScreenLocks
    private let isGuarded: @Sendable (_ unit: String) -> Bool

    package init(
        _ session: LoginSession?, _ process: PinnedProcess?, _ screens: ScreenLocks,
        isGuarded: @escaping @Sendable (_ unit: String) -> Bool = { _ in false }
    ) {
        self.session = session
        self.process = process
        self.screens = screens
        self.isGuarded = isGuarded
    }

    /// Asking logind and the control group costs more than a decision does.
    package func add(_ asked: AskedFacts, to facts: inout PolicyFacts) {
        let ofSession = [BooleanField.remote, .active, .screenLocked].contains(
            where: asked.contains)
        let kind = ofSession || asked.contains(ChoiceField.session) ? kind : nil
        if asked.contains(ChoiceField.session) {
            let place = kind.flatMap(ChoiceField.session.index)
            facts[ChoiceField.session] = place.map { .known($0) } ?? .unknown
        }
        if ofSession || asked.contains(AgeField.session) { addSession(asked, to: &facts, kind) }
        if asked.contains(.host) {
            facts[.host] = Self.host.isEmpty ? .unknown : .known([PolicyText(Self.host)])
        }
        if asked.containsTime { addTime(to: &facts) }
    }

    private func addTime(to facts: inout PolicyFacts) {
        let time = LocalTime.now
        // 1970 began on a Thursday; Monday is 0.
        facts.time =
            MinuteOfWeek(day: Int((time.day + 3) % 7), hour: time.hour, minute: time.minute)
            .map { .known($0) } ?? .unknown
    }

    private func addSession(
        _ asked: AskedFacts, to facts: inout PolicyFacts, _ kind: String?
    ) {
        guard let session else {
            // A service has no user far away, and no screen.
            let isNobodys = kind == "service" || kind == "cron"
            facts[.remote] = isNobodys ? .known(false) : .unknown
            facts[.active] = isNobodys ? .known(false) : .unknown
            facts[.screenLocked] = isNobodys ? .absent : .unknown
            return
        }
        facts[.remote] = .known(session.isRemote)
        let (started, isOver) = Int64(clamping: session.leaderStart)
            .multipliedReportingOverflow(by: 1000 / Self.clockTicks)
        let age = Self.sinceBoot - started
        let isKnown = !isOver && age >= 0
        facts[AgeField.session] = isKnown ? .known(PolicyDuration(milliseconds: age)) : .unknown
        guard let logind = session.logindSession else {
            // No logind knows of a screen that could be locked.
            facts[.active] = .unknown
            facts[.screenLocked] = .absent
            return
        }
        if asked.contains(.active) {
            facts[.active] = LoginSessions.isActive(logind).map { .known($0) } ?? .unknown
        }
        facts[.screenLocked] = screens.isLocked(logind).map { .known($0) } ?? .unknown
    }

    /// One of the words of `subject.session`; nil where it can't be told.
    private var kind: String? {
        if let session {
            if session.service.hasPrefix("cron") || session.service.hasPrefix("atd") {
                return "cron"
            }
            guard session.isRemote else { return "seat" }
            if session.service.hasPrefix("ssh") { return "ssh" }
            return Self.remoteDesktops.contains(where: session.service.hasPrefix)
                ? "remote-desktop" : "other"
        }
        guard let controlGroup = process?.cgroup() else { return nil }
        return Self.kind(outsideLogins: controlGroup, isGuarded)
    }

    /// The same of what belongs to no login.
    package static func kind(
        outsideLogins controlGroup: [UInt8], _ isGuarded: (_ unit: String) -> Bool
    ) -> String? {
        // Before all else: below it users make control groups of any name.
        let text = String(decoding: controlGroup, as: UTF8.self)
        // Under a user's own manager anything may have started it.
        if text.contains("/user@") || text.contains("/user.slice") { return nil }
        if SystemUnit.isScheduler(controlGroup) { return "cron" }
        guard let unit = SystemUnit.name(controlGroup) else { return "other" }
        // Else it may be any program of its user's.
        return isGuarded(unit) ? "service" : nil
    }

    /// Milliseconds, with those asleep.
    private static var sinceBoot: Int64 {
        start.uptime + PolicyDuration(start.moment.duration(to: .now)).milliseconds
    }

    /// The file is read once; from then on the clock goes on.
    private static let start: (uptime: Int64, moment: ContinuousClock.Instant) = {
        let text = KernelFile.read("/proc/uptime", limit: 256) ?? []
        let seconds = String(decoding: text, as: UTF8.self).split(separator: " ").first
        return (Int64((seconds.flatMap { Double($0) } ?? 0) * 1000), .now)
    }()
}
