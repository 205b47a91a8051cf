// SPDX-License-Identifier: Apache-2.0
import AccessControl
import PolicyWorlds
import Testing

@Suite struct `Compiled policy` {
    @Test func `decides as the reference does under random policies`() throws {
        try Comparison.run(decisions: 20_000, seed: 1)
    }
}
