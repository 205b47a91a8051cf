// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel

/// The programs that may use new items: `-A` and `-T`.
struct TrustedPrograms {
    /// nil for no list.
    let named: [NamedProgram]?

    init(_ options: Options, _ session: Session) throws(CommandFailure) {
        if options.has("A") {
            session.output.complain(
                """
                security: -A: no item here lets every program in; other programs ask, or are named \
                with -T

                """)
        }
        guard options.has("T") else {
            named = nil
            return
        }
        var named: [NamedProgram] = []
        for path in options.all("T") where !path.isEmpty {
            guard !path.hasPrefix("group://") else {
                session.output.complain("security: -T \(path): there are no such groups here\n")
                continue
            }
            guard let file = InstalledProgram.resolved(path) else {
                throw .status(-50, call: "SecTrustedApplicationCreateFromPath", detail: path)
            }
            named.append(.identity("exe:" + file))
        }
        self.named = named
    }
}
