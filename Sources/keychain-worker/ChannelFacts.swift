// SPDX-License-Identifier: Apache-2.0
internal import KeychainDaemon
internal import KeychainModel
internal import WorkerHandoff

/// What keychaind looks up for this process, which has no right to it.
struct ChannelFacts: Sendable {
    private let channel: WorkerChannel

    init(_ channel: WorkerChannel) { self.channel = channel }

    var all: DaemonPlan.Facts {
        DaemonPlan.Facts(
            hasEmptyPassword: hasEmptyPassword, enrolledBiometry: enrolledBiometry,
            unitUser: user(ofUnit:), controller: controller(ofSession:))
    }

    private func hasEmptyPassword() -> Bool {
        channel.ask { .emptyPassword(id: $0) }?.value == 1
    }

    private func enrolledBiometry() -> [UInt8] {
        channel.ask { .biometry(id: $0) }.flatMap { [UInt8](hexadecimal: $0.text) } ?? []
    }

    private func user(ofUnit unit: String) -> String? {
        ask(about: unit) { .unitUser(id: $0, unit: unit) }.flatMap { $0.value == 1 ? $0.text : nil }
    }

    private func controller(ofSession session: String) -> Int32? {
        ask(about: session) { .controller(id: $0, session: session) }
            .flatMap { $0.value == 0 ? nil : Int32(exactly: $0.value) }
    }

    /// nil for a name that a record has no room for: cut, it would be another one.
    private func ask(
        about name: String, _ report: (_ id: UInt32) -> WorkerReport
    ) -> WorkerChannel.Answer? {
        name.utf8.count <= WorkerReport.longestText ? channel.ask(report) : nil
    }
}
