// SPDX-License-Identifier: Apache-2.0
internal import PolicyLanguage
internal import PolicySyntax

/// The files that are open in the editor, with the editor's text, and the files beside them on the
/// disk.
struct OpenDocuments {
    static let most = 256
    /// The most bytes of all of them together.
    static let mostBytes = 64 << 20

    /// Folders whose policies come before those of an edited one, the earliest first.
    let beneath: [String]
    private var sources: [String: SourceFile] = [:]
    private var addresses: [String: String] = [:]

    init(beneath: [String]) { self.beneath = beneath }

    /// Returns false where there is no room for it.
    mutating func put(_ text: String, at address: String) -> Bool {
        let path = Self.path(address)
        let others = sources.filter { $0.key != path }
        let bytes = others.values.reduce(text.utf8.count) { $0 + $1.bytes.count }
        guard others.count < Self.most, bytes <= Self.mostBytes else {
            close(address)
            return false
        }
        sources[path] = SourceFile(path: path, bytes: Array(text.utf8))
        addresses[path] = address
        return true
    }

    mutating func close(_ address: String) {
        let path = Self.path(address)
        sources[path] = nil
        addresses[path] = nil
    }

    func source(_ address: String) -> SourceFile? { sources[Self.path(address)] }

    /// The address as the editor wrote it, where the file is open.
    func address(of path: String) -> String { addresses[path] ?? FileAddress.address(of: path) }

    /// The path of an address; the address itself where it is that of no file.
    static func path(_ address: String) -> String { FileAddress.path(of: address) ?? address }

    static func folder(of address: String) -> String {
        let path = path(address)
        guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/") else { return path }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    func open(in folder: String) -> [String] {
        sources.keys.filter { Self.folder(of: $0) == folder }
    }

    /// All policy files of a folder, with the editor's text for those that are open.
    func files(in folder: String) -> (sources: [SourceFile], diagnostics: [Diagnostic]) {
        let open = sources.filter { Self.folder(of: $0.key) == folder }
        guard folder.hasPrefix("/") else { return (Array(open.values), []) }
        let (kept, found) = PolicyFolder.read(folder, trust: .anybody)
        let all = kept.filter { open[$0.path] == nil } + open.values
        return (
            all.sorted { PolicyPath($0.path) < PolicyPath($1.path) },
            // An open file counts as existing, even where the disk has no such file.
            found.filter { open[$0.file] == nil && $0.file != folder }
        )
    }

    /// The folder's files after those that the system reads before them.
    func layers(in folder: String) -> (layers: [[SourceFile]], diagnostics: [Diagnostic]) {
        let system = LoadedPolicies.systemFolders
        let earlier = system.firstIndex(of: folder).map { Array(system[..<$0]) } ?? []
        let (own, found) = files(in: folder)
        let before = (earlier + beneath).filter { $0 != folder }
        return (before.map { PolicyFolder.read($0, trust: .anybody).sources } + [own], found)
    }

    /// The places where a symbol is declared and used; for a definition, in its file alone.
    func places(
        of symbol: Symbol, from address: String
    ) -> [(source: SourceFile, place: SymbolPlace)] {
        let own = source(address).map { [$0] } ?? []
        let sources = symbol.kind == .definition ? own : files(in: Self.folder(of: address)).sources
        return Self.places(in: sources) { $0 == symbol }
    }

    /// The names of a kind that are declared where the file may use them.
    func names(_ kind: Symbol.Kind, for address: String) -> [String] {
        let own = source(address).map { [$0] } ?? []
        let layers = layers(in: Self.folder(of: address)).layers
        let sources = kind == .definition ? own : layers.flatMap { $0 }
        let found = Self.places(in: sources) { $0.kind == kind }.filter(\.place.isDeclaration)
        return Set(found.map(\.place.symbol.name)).sorted()
    }

    static func places(
        in sources: [SourceFile], _ isMeant: (Symbol) -> Bool
    ) -> [(source: SourceFile, place: SymbolPlace)] {
        sources.filter { $0.bytes.count <= YAMLProfile.largestFile }.flatMap { source in
            Outline(source.bytes).symbols.filter { isMeant($0.symbol) }.map { (source, $0) }
        }
    }
}
