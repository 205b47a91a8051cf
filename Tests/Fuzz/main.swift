// SPDX-License-Identifier: Apache-2.0
//
// FUZZER=NAME keychain-fuzz ARGUMENTS…: libFuzzer on one reader, with libFuzzer's own arguments.
// keychain-fuzz --seeds FOLDER: writes an input of each kind for each of them.
// keychain-fuzz --keychain FILE: makes the keychain that one of them damages.
import CFuzzer
import Glibc

@testable import FuzzTests

private let words = CommandLine.arguments
if words.count == 3, words[1] == "--seeds" {
    try Seeds.write(to: words[2])
} else if words.count == 3, words[1] == "--keychain" {
    try DamagedKeychain.make(at: words[2])
} else {
    precondition(FuzzTarget.chosen != nil, "FUZZER names none of \(FuzzTarget.names)")
    var count = CommandLine.argc
    // Safe: the program's own arguments, and bytes that libFuzzer lends for the call.
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? =
        unsafe CommandLine.unsafeArgv
    exit(
        unsafe LLVMFuzzerRunDriver(&count, &arguments) { bytes, count in
            let input = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
            do { try FuzzTarget.chosen?.read(input) } catch { fatalError("\(error)") }
            return 0
        })
}
