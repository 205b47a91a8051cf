// SPDX-License-Identifier: Apache-2.0

/// How hard it is for another program of the same user to pass under a program's name.
public enum ProgramStrength: UInt8, Sendable, Hashable, Comparable {
    /// The user can replace the file, or the program runs whatever it is given.
    case weak = 1
    /// Only root can change the file; the user who runs it can still take over the process.
    case rootsFile = 2
    /// The kernel guards the name: a system unit, an SELinux domain.
    case guarded = 3

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// Of the executable at a path.
    public init(executable path: String, isRoots: Bool) {
        self = isRoots && !Interpreters.contains(path) ? .rootsFile : .weak
    }
}

extension Caller.Identity {
    /// nil where the program is unknown.
    public var strength: ProgramStrength? {
        switch self {
        // A snap's file is root's, but every program of its user can start it with any arguments.
        case .label(let label): label.hasPrefix("snap:") ? .rootsFile : .guarded
        case .unit: .guarded
        // Any program outside sandboxes can present the mark of a sandbox.
        case .sandbox: .weak
        case .trustedExecutable(let path): ProgramStrength(executable: path, isRoots: true)
        case .executable: .weak
        case .unknown: nil
        }
    }
}

/// Programs that run the code they are given: their name is that of every script they run.
public enum Interpreters {
    private static let names: Set<String> = [
        "sh", "ash", "bash", "beam", "bun", "busybox", "dash", "deno", "dotnet", "electron",
        "elvish", "emacs", "erl", "escript", "expect", "fish", "gawk", "gdb", "gjs", "guile",
        "gvim", "irb", "java", "js", "julia", "ksh", "lua", "luajit", "mawk", "mksh", "mono",
        "node", "nodejs", "nu", "nvim", "octave", "osascript", "perl", "php", "pwsh", "pypy",
        "python", "qjs", "qml", "qmlscene", "R", "racket", "rbash", "Rscript", "ruby", "sbcl",
        "scala", "strace", "swipl", "tclsh", "vim", "wish", "xonsh", "zsh",
    ]
    private static let beginnings = ["ld-linux", "ld-musl", "ld.so", "ld-2.", "qemu-", "wine"]

    /// What distributions add to an interpreter's name behind a dash.
    private static let variants: Set<String> = [
        "boehm", "c", "cgi", "cli", "console", "dbg", "fpm", "gtk", "gui", "lucid", "nox", "qt",
        "sgen", "static",
    ]

    /// By the name of the file up to its first dot, version or variant: `vim.basic`, `gjs-console`,
    /// `perl5.36-x86_64-linux-gnu`.
    public static func contains(_ path: String) -> Bool {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        var stem = name.prefix { $0 != "." }
        if let dash = stem.firstIndex(of: "-") {
            let rest = stem[stem.index(after: dash)...]
            let variant = rest.prefix { $0 != "-" }
            let isVariant = variant.first?.isNumber ?? true || variants.contains(String(variant))
            if isVariant || rest.hasSuffix("-linux-gnu") { stem = stem[..<dash] }
        }
        while stem.last?.isNumber == true { stem.removeLast() }
        return names.contains(String(stem)) || beginnings.contains(where: name.hasPrefix)
    }
}
