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
    @Option(help: "What must be proven from now on, with commas between, or none.")
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
        if try change() == ItemChange(), !newSecret, !secretStdin {
            throw ValidationError("Say what to change, by --new-label or the like.")
        }
    }

    func run() throws {
        let secret = try readSecret()
        let count = try wanted.asked.ask(
            Update(try wanted.query(), try change(), secret: secret), to: "update the item")
        if wanted.output.json { JSONOutput.write(DoneRecord(count: count)) }
    }

    private func readSecret() throws(CommandFailure) -> HeldSecret? {
        do throws(CommandFailure) {
            if secretStdin { return try SecretReading.itemSecret(alwaysFromInput: true) }
            return newSecret ? try SecretReading.typed("New secret: ") : nil
        } catch { throw wanted.asked.failure(error) }
    }

    private func change() throws(ValidationError) -> ItemChange {
        var change = ItemChange()
        change.attributes = try new.values(for: wanted.kind)
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
