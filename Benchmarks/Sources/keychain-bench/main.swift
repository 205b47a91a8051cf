// SPDX-License-Identifier: Apache-2.0
// keychain-bench fill COUNT | read COUNT | items MODE COUNT | orders | context | lock READERS
//                | read-until-locked
// The keychain is the one that the environment chooses, as for any program.
import Foundation

let words = CommandLine.arguments.dropFirst()
do {
    switch (words.first, words.count) {
    case ("fill", 2): try ItemTimes.fill(to: Int(words[2]) ?? 0)
    case ("read", 2):
        for index in 0..<(Int(words[2]) ?? 0) { try ItemTimes.read(item: index, of: 100) }
    case ("items", 3): try ItemTimes(mode: words[2], size: Int(words[3]) ?? 0).measure()
    case ("orders", 1): try Orders.follow()
    case ("context", 1): try ContextTimes.measure()
    case ("lock", 2): try LockTimes.measure(readers: Int(words[2]) ?? 0)
    case ("read-until-locked", 1): try LockTimes.readUntilLocked()
    default:
        FileHandle.standardError.write(
            Data("usage: see the first lines of main.swift\n".utf8))
        exit(2)
    }
} catch {
    FileHandle.standardError.write(Data("keychain-bench: \(error)\n".utf8))
    exit(1)
}
