// SPDX-License-Identifier: Apache-2.0
internal import PolicyLanguage
internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainCommands
internal import KeychainLinuxSystem
internal import PolicyTools
internal import Terminal

struct PolicyGraphCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "graph", abstract: "Draw the rules: who, what, which items; in DOT.")

    private static let programs = ["/usr/bin/dot", "/usr/local/bin/dot"]
    private static let formats = ["svg", "png", "pdf"]
    private static let seconds = 60.0

    @OptionGroup var policies: PolicyOptions
    @Option(
        help: ArgumentHelp(
            "Have Graphviz make a picture of it: a new .svg, .png or .pdf.", valueName: "file"))
    var picture: String?

    func validate() throws {
        guard let picture else { return }
        guard Self.formats.contains(where: { picture.hasSuffix("." + $0) }) else {
            throw ValidationError("A picture is an .svg, a .png or a .pdf.")
        }
    }

    func run() throws {
        let drawing = PolicyGraph(try policies.loadUsable().policy).dot
        guard let picture else {
            StandardStream.output.write(drawing)
            return
        }
        try draw(drawing, to: URL(fileURLWithPath: picture).path)
    }

    private func draw(_ drawing: String, to path: String) throws {
        let isProgram = { FileManager.default.isExecutableFile(atPath: $0) }
        guard let program = Self.programs.first(where: isProgram) else {
            throw CommandFailure(
                .failure, name: "noGraphviz", "Graphviz is not installed",
                advice: "Without it the drawing is text: leave --picture out.")
        }
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("keychainctl-" + UUID().uuidString)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appendingPathComponent("policy.dot").path
        try Data(drawing.utf8).write(to: URL(fileURLWithPath: source))
        let format = path.split(separator: ".").last.map(String.init) ?? ""
        let child = try ChildProcess(
            executable: program, arguments: ["-T" + format, "-o" + path, source],
            environment: ["PATH=/usr/bin:/bin", "HOME=" + folder.path], passing: [],
            newSession: true)
        guard child.wait(deadlineSeconds: Self.seconds)?.isSuccess == true else {
            throw CommandFailure(
                .failure, name: "notDrawn", "Graphviz could not draw \(path)",
                advice: "May you write there?")
        }
    }
}
