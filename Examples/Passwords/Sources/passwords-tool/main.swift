// SPDX-License-Identifier: Apache-2.0
import Foundation
import Passwords

/// What this tool keeps is its own; another program's passwords it does not see.
let store = PasswordStore(service: "org.example.passwords")

func run(_ words: [String]) throws -> Int32 {
    switch (words.first, words.dropFirst().first) {
    case ("set", let account?):
        // From standard input: arguments are for everybody to see.
        guard let password = readLine(strippingNewline: true) else { return 2 }
        try store.set(password, for: account)
    case ("get", let account?):
        guard let password = try store.password(for: account) else { return 1 }
        print(password)
    case ("remove", let account?): return try store.remove(account) ? 0 : 1
    case ("list", nil): try store.accounts().forEach { print($0) }
    default:
        print("passwords-tool set ACCOUNT | get ACCOUNT | remove ACCOUNT | list")
        return 2
    }
    return 0
}

do {
    exit(try run(Array(CommandLine.arguments.dropFirst())))
} catch {
    FileHandle.standardError.write(Data("passwords-tool: \(error)\n".utf8))
    exit(1)
}
