// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

struct UpdateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Change every item that matches, or none.",
        discussion: """
            --new-accessible and --new-flags are the item's rights and are given together; \
            “--new-flags none” takes the flags away.
            """)

    @OptionGroup var wanted: QueryOptions
    @OptionGroup var new: NewAttributeOptions

    @Option(help: "The new access group.")
    var newGroup: String?
    @Option(help: "When the item can be opened from now on.")
    var newAccessible: AccessibilityWord?
    @Option(
        help: "What must be proven from now on, with commas between, or none.",
        completion: AccessFlagsArgument.completion, transform: AccessFlagsArgument.init)
    var newFlags: AccessFlagsArgument?
    @Flag(help: "Ask for a new secret.")
    var newSecret = false
    @Flag(help: "The new secret is everything on standard input.")
    var secretStdin = false
    @Flag(help: "Change every item of the class.")
    var all = false

    func validate() throws {
        try wanted.checkMeansSome(allowingAll: all)
        if newSecret, secretStdin {
            throw ValidationError("--new-secret and --secret-stdin exclude each other.")
        }
        if try anyChange() == ItemChange(), !newSecret, !secretStdin {
            throw ValidationError("Say what to change, by --new-label or the like.")
        }
    }

    func run() throws {
        let task = "update the item"
        let meant = try wanted.selection.changedItems(to: task)
        let change: ItemChange
        do throws(ValidationError) {
            guard let kind = ItemKind(meant.itemClass) else {
                throw ValidationError("Items of other programs' services are not changed here.")
            }
            change = try self.change(kind)
        } catch {
            throw wanted.asked.failure(
                CommandFailure(
                    .usage, name: "noSuchAttribute", "could not \(task): \(error.message)"))
        }
        let secret = try readSecret()
        let count = try wanted.asked.ask(Update(meant, change, secret: secret), to: task)
        if wanted.output.json { JSONOutput.write(DoneRecord(count: count)) }
    }

    private func readSecret() throws(CommandFailure) -> HeldSecret? {
        do throws(CommandFailure) {
            if secretStdin { return try SecretReading.itemSecret(alwaysFromInput: true) }
            return newSecret ? try SecretReading.typed("New secret: ") : nil
        } catch { throw wanted.asked.failure(error) }
    }

    /// For the class that was said; of a name any class will do that has all of the attributes.
    private func anyChange() throws(ValidationError) -> ItemChange {
        if let kind = wanted.selection.kind { return try change(kind) }
        let fitting = ItemKind.allCases.lazy.compactMap { try? change($0) }.first
        guard let fitting else { return try change(.genericPassword) }
        return fitting
    }

    private func change(_ kind: ItemKind) throws(ValidationError) -> ItemChange {
        var change = ItemChange()
        change.attributes = try new.values(for: kind)
        change.accessGroup = newGroup
        guard (newAccessible == nil) == (newFlags == nil) else {
            throw ValidationError("--new-accessible and --new-flags belong together.")
        }
        if let newAccessible, let newFlags {
            guard let rights = newFlags.rights(newAccessible.accessibility) else {
                throw AccessFlagsArgument.contradiction
            }
            change.accessible = newAccessible.accessibility
            change.accessControl = rights.accessControl ?? .plain(newAccessible.accessibility)
        }
        return change
    }
}
