// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc
internal import KeychainMessages
internal import KeychainModel
internal import Terminal

/// Every record of the caller's keychains.
struct KeychainExam {
    private let keychains: [KeychainStatus]
    private let service: Keychain
    private let repair: Bool

    init(_ keychains: [KeychainStatus], _ service: Keychain, repair: Bool) {
        self.keychains = keychains
        self.service = service
        self.repair = repair
    }

    var findings: [Finding] { keychains.flatMap(examine) }

    private func examine(_ keychain: KeychainStatus) -> [Finding] {
        // The machine's is root's to look at.
        guard keychain.name != KeychainName.system.description || getuid() == 0 else { return [] }
        if keychain.problem == .state(.noSuchKeychain) {
            return [
                Finding(
                    .keychains, .note, "\(keychain.name): does not exist yet",
                    remedy: "The first login with a password makes it, or keychainctl create.")
            ]
        }
        if let problem = keychain.problem {
            let meaning = ErrorMeaning(problem, keychain: keychain.name)
            let remains = keychain.remains.map(PlainText.line).joined(separator: ", ")
            return [
                Finding(
                    .keychains, .trouble,
                    "\(keychain.name): \(meaning.sentence)"
                        + (remains.isEmpty ? "" : " (\(remains))"),
                    remedy: meaning.advice)
            ]
        }
        do throws(CommandFailure) {
            let before = try check(keychain.name, repair: repair)
            let after = repair && !before.isClean ? try check(keychain.name, repair: false) : before
            return records(keychain.name, before, after) + [generations(keychain.name)]
        } catch {
            return [
                Finding(
                    .keychains, .trouble, "\(keychain.name): \(error.message)",
                    remedy: error.advice)
            ]
        }
    }

    private func check(
        _ name: String, repair: Bool
    ) throws(CommandFailure) -> KeychainFindings {
        try service.ask(
            CheckKeychain(keychain: name, repair: repair), to: "look at its records")
    }

    private func records(
        _ name: String, _ before: KeychainFindings, _ after: KeychainFindings
    ) -> [Finding] {
        var findings: [Finding] = []
        func tell(
            _ what: (String, String), _ before: Int, _ after: Int, _ done: String, _ remedy: String
        ) {
            func counted(_ count: Int) -> String { "\(count) \(count == 1 ? what.0 : what.1)" }
            if after > 0 {
                findings.append(
                    Finding(.keychains, .trouble, "\(name): \(counted(after))", remedy: remedy))
            } else if before > 0 {
                findings.append(
                    Finding(.keychains, .mended, "\(name): \(counted(before)); \(done)"))
            }
        }
        if !after.isStructureWhole {
            findings.append(
                Finding(
                    .keychains, .trouble, "\(name): the file is damaged",
                    remedy: "keychainctl restore brings back a backup or an earlier state."))
        }
        tell(
            ("damaged record", "damaged records"), before.damaged, after.damaged, "set aside",
            "keychainctl doctor --repair sets such records aside, within the file.")
        tell(
            ("record that searches miss", "records that searches miss"), before.misindexed,
            after.misindexed, "the index is mended",
            "keychainctl doctor --repair mends the index.")
        tell(
            ("index entry of nothing", "index entries of nothing"), before.strayEntries,
            after.strayEntries, "removed",
            "keychainctl doctor --repair removes such.")
        tell(
            ("file of interrupted work", "files of interrupted work"), before.leftovers,
            after.leftovers, "removed",
            "keychainctl doctor --repair removes such.")
        if after.isClean {
            var sentence = "\(name): all records are whole (\(after.whole))"
            if after.sealed > 0 {
                sentence = """
                    \(name): records that open are whole (\(after.whole)), those that are locked \
                    look it (\(after.sealed))
                    """
            }
            findings.append(Finding(.keychains, .fine, sentence))
        }
        if after.quarantined > 0 {
            findings.append(
                Finding(
                    .keychains, .note,
                    "\(name): damaged records that are set aside: \(after.quarantined)",
                    remedy: "An earlier state may have them whole: keychainctl restore --list."))
        }
        return findings
    }

    private func generations(_ name: String) -> Finding {
        let verb = ListGenerations(keychain: name)
        let kept = try? service.ask(verb, to: "list the earlier states")
        guard let newest = kept?.first else {
            return Finding(.keychains, .note, "\(name): no earlier state is kept yet")
        }
        let count = kept?.count ?? 0
        let made = Date(timeIntervalSince1970: newest.made).formatted(.iso8601)
        return Finding(
            .keychains, .fine,
            "\(name): \(count) earlier state\(count == 1 ? "" : "s") kept, the last of \(made)")
    }
}
