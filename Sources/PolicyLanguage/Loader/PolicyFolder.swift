// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainLinuxSystem
package import PolicySyntax

/// Finds and reads the files of folders of policies.
package enum PolicyFolder {
    /// The most files in one folder.
    static let mostFiles = 4_096

    /// The owners whose files are read.
    package enum Trust { case anybody, rootOnly }

    /// The `*.yaml` files of a folder by name, or the one file that the path names.
    package static func read(
        _ path: String, trust: Trust
    ) -> (sources: [SourceFile], diagnostics: [Diagnostic]) {
        var isFolder = false
        let manager = FileManager.default
        guard manager.fileExists(atPath: path, isDirectory: &isFolder) else {
            return ([], [Diagnostic(.unreadable, path: path, "there is no such folder")])
        }
        if trust == .rootOnly, let found = untrusted(path) { return ([], [found]) }
        guard isFolder else { return read(files: [path], trust) }
        guard let names = try? manager.contentsOfDirectory(atPath: path) else {
            return ([], [Diagnostic(.unreadable, path: path, "the folder can't be read")])
        }
        let files = names.filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }
            .map { PolicyPath(path.hasSuffix("/") ? path + $0 : path + "/" + $0) }.sorted()
        guard files.count <= mostFiles else {
            return (
                [],
                [Diagnostic(.tooManyValues, path: path, "more than \(mostFiles) files in a folder")]
            )
        }
        return read(files: files.map(\.path), trust)
    }

    private static func read(
        files: [String], _ trust: Trust
    ) -> (sources: [SourceFile], diagnostics: [Diagnostic]) {
        var sources: [SourceFile] = []
        var diagnostics: [Diagnostic] = []
        for file in files {
            do throws(Diagnostic) {
                sources.append(try read(file: file, trust))
            } catch {
                diagnostics.append(error)
            }
        }
        return (sources, diagnostics)
    }

    static func read(file: String, _ trust: Trust) throws(Diagnostic) -> SourceFile {
        let isMask =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: file))
            == "/dev/null"
        let contents: FileContents
        do throws(SystemError) {
            contents = try FileContents(
                reading: file, limit: YAMLProfile.largestFile,
                followingLinks: trust == .anybody || isMask)
        } catch {
            throw Diagnostic(
                trust == .rootOnly ? .notARegularFile : .unreadable, path: file,
                "the file can't be read", advice: trust == .rootOnly ? "links are refused" : nil)
        }
        if contents.kind == .null { return SourceFile(path: file, bytes: []) }
        guard contents.kind == .regular else {
            throw Diagnostic(.notARegularFile, path: file, "this is no regular file")
        }
        if trust == .rootOnly { try checkTrust(contents, file) }
        return SourceFile(path: file, bytes: contents.bytes)
    }

    private static func checkTrust(
        _ contents: FileContents, _ file: String
    ) throws(Diagnostic) {
        if contents.owner != 0 {
            throw Diagnostic(
                .wrongOwner, path: file, "the file belongs to uid \(contents.owner), not to root",
                advice: "chown root \(file)")
        }
        if contents.mode & 0o022 != 0 {
            throw Diagnostic(
                .wrongMode, path: file, "others than root can write to the file",
                advice: "chmod go-w \(file)")
        }
        if contents.links != 1 {
            throw Diagnostic(
                .linkedElsewhere, path: file, "the file has \(contents.links) names",
                advice: "copy it; a policy has one name")
        }
    }

    private static func untrusted(_ path: String) -> Diagnostic? {
        let folder =
            path.hasSuffix(".yaml") && path.contains("/")
            ? String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) : path
        return FileContents.untrustedFolder(from: folder).map { found in
            Diagnostic(
                .wrongOwner, path: found,
                "not root's alone: a folder above policies belongs to root, is no link, "
                    + "and no other user can write to it",
                advice: "chown root \(found) && chmod go-w \(found)")
        }
    }
}
