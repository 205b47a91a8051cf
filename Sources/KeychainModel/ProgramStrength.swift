// SPDX-License-Identifier: Apache-2.0

/// How hard it is for another program of the same user to bear a program's name.
public enum ProgramStrength: UInt8, Sendable, Hashable, Comparable {
    /// Its user can put another file in its place, or it runs whatever it is told to.
    case weak = 1
    /// Only root can change the file; who runs it can still take the process over.
    case rootsFile = 2
    /// The kernel guards it: a system unit, a domain of SELinux.
    case guarded = 3

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// Of the executable at a path.
    public init(executable path: String, isRoots: Bool) {
        self = isRoots && !Interpreters.contains(path) ? .rootsFile : .weak
    }
}

extension Caller.Identity {
    /// nil where it is unknown which program it is.
    public var strength: ProgramStrength? {
        switch self {
        // A snap's file is root's, and every program of its user starts it with what it likes.
        case .label(let label): label.hasPrefix("snap:") ? .rootsFile : .guarded
        case .unit: .guarded
        // Any program outside of sandboxes can show what names one.
        case .sandbox: .weak
        case .trustedExecutable(let path): ProgramStrength(executable: path, isRoots: true)
        case .executable: .weak
        case .unknown: nil
        }
    }
}

/// Programs that become whatever they are given: their name is that of every script and program
/// that they run.
public enum Interpreters {
    private static let names: Set<String> = [
        "sh", "ash", "bash", "busybox", "dash", "deno", "dotnet", "elvish", "emacs", "erl",
        "escript",
        "fish", "gawk", "gdb", "gjs", "guile", "irb", "java", "js", "julia", "ksh", "lua", "luajit",
        "mawk", "mksh", "mono", "node", "nodejs", "nu", "octave", "osascript", "perl", "php",
        "pwsh",
        "pypy", "python", "qjs", "racket", "rbash", "Rscript", "ruby", "sbcl", "scala", "strace",
        "swipl", "tclsh", "vim", "wish", "xonsh", "zsh",
    ]
    private static let beginnings = ["ld-linux", "ld-musl", "ld.so", "ld-2.", "qemu-", "wine"]

    /// By the name of the file, with or without a version behind it.
    public static func contains(_ path: String) -> Bool {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        var stem = Substring(name)
        while let last = stem.last, last.isNumber || last == "." || last == "-" {
            stem.removeLast()
        }
        return names.contains(name) || names.contains(String(stem))
            || beginnings.contains(where: name.hasPrefix)
    }
}
