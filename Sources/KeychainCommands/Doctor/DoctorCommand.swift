// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainDaemonClient
internal import KeychainModel
internal import PAMSetup
internal import Terminal

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look at everything that keychains rest on, and say what is wrong.",
        discussion: """
            Says in words what will happen when people log in. Ends with 1 where something is \
            wrong. Root sees more than others do.
            """)

    @Flag(help: "Mend what can be mended without a loss or a choice.")
    var repair = false

    @Option(help: ArgumentHelp("Other PAM services than this machine's.", valueName: "folder"))
    var pam: [String] = []

    @OptionGroup var output: OutputOptions

    func run() throws {
        let findings = examine()
        if output.json {
            JSONOutput.write(DoctorRecord(findings))
        } else {
            StandardStream.output.write(DoctorText(findings).text)
        }
        if findings.contains(where: { $0.state == .trouble }) { throw ExitCode.failure }
    }

    private func examine() -> [Finding] {
        let keychain = Keychain(name: nil, asJSON: output.json)
        let progress = ProgressBar("Looking", of: 5, drawn: .byItself)
        defer { progress.end() }
        var findings = ServiceExam(keychain).findings
        progress.step()
        let status = try? keychain.status()
        if DaemonSocket.ofThisProcess != nil {
            findings += MachineExam().findings
            progress.step()
            findings += FileExam(repair: repair).findings
            progress.step()
        }
        if let status {
            findings += KeychainExam(status.keychains, keychain, repair: repair).findings
            progress.step()
        }
        if DaemonSocket.ofThisProcess != nil || !pam.isEmpty {
            let stacks = PAMStacks(folders: pam.isEmpty ? PAMStacks.systemFolders : pam)
            findings += LoginExam(stacks).findings
        }
        if DaemonSocket.ofThisProcess != nil { findings += SecretsExam()?.findings ?? [] }
        return findings
    }
}

struct DoctorRecord: Encodable {
    /// Nothing is wrong.
    let sound: Bool
    let findings: [Finding]

    init(_ findings: [Finding]) {
        self.findings = findings
        sound = !findings.contains { $0.state == .trouble }
    }
}

/// For people: by area, what is wrong with what helps.
struct DoctorText {
    private let findings: [Finding]

    init(_ findings: [Finding]) { self.findings = findings }

    var text: String {
        var lines: [String] = []
        var area = ""
        for finding in findings {
            if finding.area != area {
                lines += (area.isEmpty ? [] : [""]) + [finding.area]
                area = finding.area
            }
            lines.append("  \(Self.mark(finding.state)) \(PlainText.line(finding.sentence))")
            if let remedy = finding.remedy { lines.append("         \(PlainText.line(remedy))") }
        }
        let count = findings.count { $0.state == .trouble }
        lines += ["", count == 0 ? "Nothing is wrong." : "Wrong: \(count)."]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func mark(_ state: Finding.State) -> String {
        switch state {
        case .fine: "ok    "
        case .note: "note  "
        case .trouble: "WRONG "
        case .mended: "mended"
        }
    }
}
