// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainCommands
internal import KeychainLinuxSystem
internal import KeychainSecrets
internal import PolicyTools
internal import Terminal

struct PolicyInitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write first policies, with their tests, into a folder.",
        discussion: """
            Asks a few questions on a terminal. With --machine nothing is asked, and what no option \
            says is what would be offered. Files that are there are left alone, and none is \
            written then.
            """)

    @Option(help: "server, laptop or shared.")
    var machine: String?
    @Option(
        name: .customLong("unit"),
        help: "A service that reads secrets of its own, as backup.service; may be repeated.")
    var units: [String] = []
    @Option(help: "The group whose members put services' secrets in place.")
    var operators: String?
    @Option(
        name: .customLong("ask"),
        help: "ssh, reading, export or locked; may be repeated. none for nothing.")
    var asks: [String] = []
    @Argument(help: ArgumentHelp("The folder.", valueName: "dir"))
    var folder: String

    private static let rights = 0o755

    func run() throws {
        let draft = try draft()
        let paths = draft.files.map { (path: "\(folder)/\($0.name)", text: $0.text) }
        let manager = FileManager.default
        if let taken = paths.first(where: { manager.fileExists(atPath: $0.path) }) {
            throw CommandFailure(
                .exists, name: "exists", "\(taken.path) is there already",
                advice: "Nothing was written. Name another folder.")
        }
        do {
            try manager.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: Self.rights])
            for (path, text) in paths {
                // A file that appeared meanwhile is not overwritten.
                try Data(text.utf8).write(to: URL(filePath: path), options: .withoutOverwriting)
            }
        } catch {
            throw CommandFailure(
                .failure, name: "unwritable", "could not write all files into \(folder)",
                advice: "Is the folder yours to write?")
        }
        StandardStream.output.write(PlainText.escaped(Self.next(paths.map(\.path), folder)))
    }

    private static func next(_ paths: [String], _ folder: String) -> String {
        """
        Written:
        \(paths.map { "    \($0)" }.joined(separator: "\n"))
        Read them, change them, then:
            keychainctl policy check --policies \(folder)
            keychainctl policy lint --policies \(folder)
            keychainctl policy test --policies \(folder)
            sudo install -m 644 \(folder)/*.yaml /etc/keychain/policies.d/

        """
    }

    // MARK: Answers

    private func draft() throws -> PolicyDraft {
        let asksQuestions = machine == nil
        if asksQuestions, !StandardInput.isTerminal {
            throw CommandFailure(
                .usage, name: "noTerminal", "there is no terminal to ask questions on",
                advice:
                    "--machine server, laptop or shared says it; see --unit, --operators, --ask.")
        }
        let machine = try Self.machine(
            self.machine ?? Self.ask("What is this machine: server, laptop or shared?", "laptop"))
        var units = units
        var operators = operators ?? Self.administrators
        if asksQuestions, machine == .server {
            if units.isEmpty {
                units = Self.words(
                    try Self.ask("Which services read secrets of their own, as backup.service?", "")
                )
            }
            if !units.isEmpty, self.operators == nil {
                operators = try Self.ask("Members of which group put them in place?", operators)
            }
        }
        let offered = machine.asks.map(\.rawValue).joined(separator: " ")
        var asks = asks.isEmpty ? Self.words(offered) : asks
        if asksQuestions, self.asks.isEmpty {
            let terms = PolicyDraft.Ask.allCases.map { "  \($0.rawValue): \($0.words)" }
            try Self.say(
                "What is to be asked for, or refused? none is one answer.\n"
                    + terms.joined(separator: "\n"))
            asks = Self.words(try Self.ask("Which?", offered))
        }
        do throws(PolicyDraft.Mistake) {
            return try PolicyDraft(
                machine, units: units, operators: operators, asks: try Self.asks(asks))
        } catch {
            throw CommandFailure(error)
        }
    }

    private static func machine(_ word: String) throws -> PolicyDraft.Machine {
        guard let machine = PolicyDraft.Machine(rawValue: word) else {
            throw CommandFailure(
                .usage, name: "badMachine", "“\(word)” is none of server, laptop and shared")
        }
        return machine
    }

    private static func asks(_ words: [String]) throws(PolicyDraft.Mistake) -> [PolicyDraft.Ask] {
        if words == ["none"] { return [] }
        var asks: [PolicyDraft.Ask] = []
        for word in words {
            guard let ask = PolicyDraft.Ask(rawValue: word) else { throw .ask(word) }
            asks.append(ask)
        }
        return asks
    }

    /// The distribution's group of administrators.
    private static var administrators: String {
        ["sudo", "wheel"].first { UserGroup.exists($0) } ?? "root"
    }

    private static func words(_ text: String) -> [String] {
        text.split { $0 == " " || $0 == "," }.map(String.init)
    }

    private static func ask(_ question: String, _ offered: String) throws -> String {
        let offer = offered.isEmpty ? "" : " [\(offered)]"
        do throws(TerminalError) {
            let typed = try Terminal().ask("\(question)\(offer) ", echo: true)
            let answer = String(decoding: typed.releasedFromLockedMemory(), as: UTF8.self)
            return answer.isEmpty ? offered : answer
        } catch { throw CommandFailure(error) }
    }

    private static func say(_ text: String) throws {
        do throws(TerminalError) { try Terminal().say(text) } catch { throw CommandFailure(error) }
    }
}

extension CommandFailure {
    fileprivate init(_ mistake: PolicyDraft.Mistake) {
        let (message, advice): (String, String?) =
            switch mistake {
            case .unit(let unit):
                (
                    "“\(unit)” is no service",
                    "Its unit is meant, as backup.service or postgresql@*.service."
                )
            case .alike(let unit):
                ("two services would share the access group of \(unit)", "Name one of them.")
            case .group(let group): ("“\(group)” is no name of a group", nil)
            case .ask(let word):
                ("“\(word)” is none of ssh, reading, export, locked and none", nil)
            case .nothing:
                ("there is nothing to write", "Name a service, or what is to be asked for.")
            }
        self.init(.usage, name: "badAnswer", message, advice: advice)
    }
}
