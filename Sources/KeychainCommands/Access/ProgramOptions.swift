// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainModel
internal import KeychainLinuxSystem

/// Which programs a command means.
struct ProgramOptions: ParsableArguments {
    @Option(
        name: .customLong("program"),
        help: ArgumentHelp(
            "The program's file, or its identity as access show writes it. May be repeated.",
            valueName: "program"))
    var programs: [String] = []

    /// What the service knows them by.
    func identities() throws(ValidationError) -> [String] {
        guard !programs.isEmpty else {
            throw ValidationError("Say which programs you mean, by --program.")
        }
        guard programs.count <= TrustList.mostApplications else {
            throw ValidationError("An item lets in \(TrustList.mostApplications) programs at most.")
        }
        return programs.map { $0.hasPrefix("/") ? "exe:" + $0 : $0 }
    }

    /// The same where each must be there, with links followed, as the kernel follows them.
    func existing() throws(ValidationError) -> [NamedProgram] {
        var named: [NamedProgram] = []
        for identity in try identities() {
            guard identity.hasPrefix("exe:") else {
                named.append(.identity(identity))
                continue
            }
            let path = String(identity.dropFirst("exe:".count))
            guard let file = InstalledProgram.resolved(path) else {
                throw ValidationError("There is no program \(path).")
            }
            named.append(.identity("exe:" + file))
        }
        return named
    }
}
