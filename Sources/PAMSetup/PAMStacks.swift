// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainLinuxSystem

/// The PAM services of a machine, read from their files.
package struct PAMStacks: Sendable {
    /// In the order in which PAM looks for a service.
    package static let systemFolders = ["/etc/pam.d", "/usr/lib/pam.d"]
    private static let largestFile = 64 * 1024
    private static let mostServices = 500

    private let folders: [String]

    package init(folders: [String] = PAMStacks.systemFolders) { self.folders = folders }

    /// The names of the services that have a file, in order.
    package var names: [String] {
        let all = folders.flatMap {
            (try? FileManager.default.contentsOfDirectory(atPath: $0)) ?? []
        }
        let named = Set(all).filter { !$0.hasPrefix(".") && !$0.contains("~") && !$0.contains(".") }
        return Array(named.sorted().prefix(Self.mostServices))
    }

    /// The lines that PAM would use for the service; without a file of its own, those of `other`.
    package func service(_ name: String) -> PAMService {
        var building = Building(self)
        let place = PAMPlace(file: name, line: 0)
        let stacks = PAMLine.Kind.allCases.map { kind in
            (kind, building.nodes(of: name, kind, at: place, depth: 0))
        }
        return PAMService(
            name: name, stacks: Dictionary(uniqueKeysWithValues: stacks),
            mistakes: building.mistakes, included: building.included)
    }

    fileprivate enum Found {
        case text(String, path: String)
        case missing
        case unreadable
    }

    fileprivate func read(_ name: String) -> Found {
        let paths = name.hasPrefix("/") ? [name] : folders.map { $0 + "/" + name }
        for path in paths {
            do {
                let contents = try FileContents(
                    reading: path, limit: Self.largestFile, followingLinks: true)
                guard contents.kind == .regular || contents.kind == .null,
                    contents.bytes.count <= Self.largestFile
                else { return .unreadable }
                return .text(String(decoding: contents.bytes, as: UTF8.self), path: path)
            } catch {
                guard error == .system(PrivateFile.notFound) else { return .unreadable }
            }
        }
        return .missing
    }
}

/// A service's lines in the order in which they are run, with includes in their place.
package struct PAMService: Sendable {
    package let name: String
    let stacks: [PAMLine.Kind: [PAMNode]]
    package let mistakes: [PAMMistake]
    /// The names of the included files.
    package let included: Set<String>

    func nodes(_ kind: PAMLine.Kind) -> [PAMNode] { stacks[kind] ?? [] }
}

indirect enum PAMNode: Sendable {
    case line(PAMLine)
    /// Lines whose `done` and `die` end only these lines.
    case substack([PAMNode])

    var lines: [PAMLine] {
        switch self {
        case .line(let line): [line]
        case .substack(let nodes): nodes.flatMap(\.lines)
        }
    }
}

private struct Building {
    /// The greatest depth of includes, as in PAM, and the most lines of a service.
    private static let deepest = 16
    private static let mostLines = 2000

    private let stacks: PAMStacks
    private var read: [String: PAMReader?] = [:]
    private var lineCount = 0
    var mistakes: [PAMMistake] = []
    var included: Set<String> = []

    init(_ stacks: PAMStacks) { self.stacks = stacks }

    mutating func nodes(
        of name: String, _ kind: PAMLine.Kind, at place: PAMPlace, depth: Int
    ) -> [PAMNode] {
        guard depth <= Self.deepest else { return refuse(.tooDeep, place) }
        guard let reader = reader(name, at: place) else { return [] }
        var nodes: [PAMNode] = []
        for entry in reader.entries {
            lineCount += 1
            guard lineCount <= Self.mostLines else { return refuse(.tooLong, place) }
            switch entry {
            case .includeAll(let other, let place):
                included.insert(other)
                nodes += self.nodes(of: other, kind, at: place, depth: depth + 1)
            case .line(let line) where line.kind == kind:
                switch line.control {
                case .include, .substack:
                    included.insert(line.module)
                    let inner = self.nodes(
                        of: line.module, kind, at: line.place, depth: depth + 1)
                    nodes += line.control == .include ? inner : [.substack(inner)]
                default: nodes.append(.line(line))
                }
            case .line: continue
            }
        }
        return nodes
    }

    private mutating func reader(_ name: String, at place: PAMPlace) -> PAMReader? {
        if let known = read[name] { return known }
        let reader: PAMReader?
        switch stacks.read(name) {
        case .text(let text, let path):
            let new = PAMReader(text, file: path)
            mistakes += new.mistakes
            reader = new
        case .missing:
            _ = refuse(.missingFile(name), place)
            reader = nil
        case .unreadable:
            _ = refuse(.unreadable(name), place)
            reader = nil
        }
        read[name] = .some(reader)
        return reader
    }

    private mutating func refuse(_ kind: PAMMistake.Kind, _ place: PAMPlace) -> [PAMNode] {
        let mistake = PAMMistake(kind: kind, place: place)
        if !mistakes.contains(mistake) { mistakes.append(mistake) }
        return []
    }
}
