// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainUserPresence

extension KeychainService {
    /// The list that a program sends, completed with this service's own facts about the programs.
    func trustList(
        _ named: [NamedProgram], listedBy caller: Caller
    ) throws(RequestError) -> TrustList {
        guard named.count <= TrustList.mostApplications else { throw .invalid(.dataTooLarge) }
        var list = TrustList()
        for program in named { list.add(try application(program, listedBy: caller)) }
        return list
    }

    /// Returns a function that makes an item's new list from its present one.
    func trustUpdate(
        _ change: TrustChange, by caller: Caller
    ) throws(RequestError) -> (TrustList?) -> TrustList? {
        switch change {
        case .reset: return { _ in nil }
        case .replace(let named):
            let list = try trustList(named, listedBy: caller)
            return { _ in list }
        case .add(let named):
            let added = try trustList(named, listedBy: caller).applications
            return { TrustList(($0?.applications ?? []) + added) }
        case .remove(let identities):
            return { list in
                var list = list
                for identity in identities { list?.remove(identity) }
                return list
            }
        }
    }

    private func application(
        _ named: NamedProgram, listedBy caller: Caller
    ) throws(RequestError) -> TrustedApplication {
        let identity: String
        let strength: ProgramStrength
        switch named {
        case .own:
            guard let own = caller.identifier, let known = caller.strength else {
                throw .refused(.notEntitled)
            }
            (identity, strength) = (own, known)
        case .identity(let name): (identity, strength) = (name, try self.strength(of: name))
        }
        return TrustedApplication(
            identity, strength: strength, listedBy: caller.identifier ?? "unknown",
            listedAt: Date().timeIntervalSinceReferenceDate)
    }

    /// How well a name is protected now; throws for a name that no program ever has.
    private func strength(of identity: String) throws(RequestError) -> ProgramStrength {
        guard identity.utf8.count <= TrustedApplication.longestIdentity,
            let colon = identity.firstIndex(of: ":")
        else { throw .invalid(.badRequest) }
        let name = String(identity[identity.index(after: colon)...])
        switch identity[..<colon] {
        case "exe":
            let parts = name.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            guard name.hasPrefix("/"), !parts.contains(where: { ["", ".", ".."].contains($0) })
            else { throw .invalid(.badRequest) }
            // In embedded mode every program is known by its path alone.
            guard isDaemon else { return .weak }
            // Only public files are looked at: the list's strength is read back, and must tell the
            // client nothing of other files.
            return ProgramStrength(
                executable: name, isRoots: TrustedPath.isTrustedAndPublic(name))
        case "unit":
            guard name.hasSuffix(".service"), !name.contains("/") else {
                throw .invalid(.badRequest)
            }
            return .guarded
        case "selinux":
            guard !name.isEmpty, !name.contains("/") else { throw .invalid(.badRequest) }
            return .guarded
        case "snap":
            guard !name.isEmpty, !name.contains("/") else { throw .invalid(.badRequest) }
            return .rootsFile
        default: throw .invalid(.badRequest)
        }
    }
}
