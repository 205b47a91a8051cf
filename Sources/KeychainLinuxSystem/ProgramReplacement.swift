// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc
package import KeychainSecrets

/// Replaces this program by another, with secrets in its environment.
package enum ProgramReplacement {
    /// Returns only where the program can't be started. A name without a slash is looked up in
    /// `PATH`. Each of `adding` is `NAME=value` with a zero at its end, and replaces a variable of
    /// that name; this process makes no other copy of it.
    package static func become(
        _ program: String, _ arguments: [String], adding variables: [HeldSecret]
    ) -> SystemError {
        var words: [UnsafeMutablePointer<CChar>?] = unsafe ([program] + arguments).map {
            unsafe strdup($0)
        }
        unsafe words.append(nil)
        // Safe: the list ends with nil, and the words and the borrowed secrets live until the
        // process is another, or the call has returned.
        let error = unsafe withPointers(variables, []) { pointers in
            unsafe kc_exec_adding(program, words, pointers, pointers.count)
        }
        while let word = unsafe words.popLast() { unsafe free(word) }
        return .system(error)
    }

    private static func withPointers(
        _ secrets: [HeldSecret], _ pointers: [UnsafePointer<CChar>?],
        _ body: ([UnsafePointer<CChar>?]) -> Int32
    ) -> Int32 {
        guard let first = secrets.first else { return unsafe body(pointers) }
        return first.bytes.withBytes { bytes in
            // Safe: the address is used only while the secret is borrowed.
            unsafe bytes.withUnsafeBytes { buffer in
                let text = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
                return unsafe withPointers(
                    Array(secrets.dropFirst()), pointers + [text], body)
            }
        }
    }
}
