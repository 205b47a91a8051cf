// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainEndpoints
internal import KeychainModel

/// A program that may use an item although it is not in its access group: part of a ``SecAccess``.
public final class SecTrustedApplication: NSObject, @unchecked Sendable {
    /// The program as the service knows it.
    let program: NamedProgram
    /// The path of the program's file, with a zero at the end.
    let data: Data

    init(_ program: NamedProgram, path: String) {
        self.program = program
        data = Data(path.utf8 + [0])
    }

    public override var hash: Int { program.hashValue }
    public override func isEqual(_ other: Any?) -> Bool {
        (other as? SecTrustedApplication)?.program == program
    }
}

extension SecTrustedApplication {
    /// The calling program; nil where the kernel does not report its file.
    static func own() -> SecTrustedApplication? {
        ProgramFile.own().map { SecTrustedApplication(.own, path: $0) }
    }

    /// The program of a file that exists; links are followed, as the kernel follows them.
    convenience init?(path: String) {
        guard let path = ProgramFile.resolved(path) else { return nil }
        self.init(.identity("exe:" + path), path: path)
    }
}

/// Makes a trusted application of the file that a program runs from; without a path, of the calling
/// program.
///
/// Returns errSecParam for a path that leads to no regular file or is not UTF-8.
public func SecTrustedApplicationCreateFromPath(
    _ path: UnsafePointer<CChar>?, _ app: UnsafeMutablePointer<SecTrustedApplication?>
) -> OSStatus {
    let made: SecTrustedApplication?
    if let path = unsafe path {
        // Safe: the caller's own text, which ends with a zero.
        made = unsafe String(validatingCString: path).flatMap(SecTrustedApplication.init(path:))
    } else {
        made = .own()
    }
    guard let made else { return errSecParam }
    // Safe: the caller's own variable for the answer.
    unsafe app.pointee = made
    return errSecSuccess
}

/// The path of the application's file, as UTF-8 with a zero at the end.
public func SecTrustedApplicationCopyData(
    _ appRef: SecTrustedApplication, _ data: UnsafeMutablePointer<CFData?>
) -> OSStatus {
    // Safe: the caller's own variable for the answer.
    unsafe data.pointee = appRef.data as NSData
    return errSecSuccess
}
