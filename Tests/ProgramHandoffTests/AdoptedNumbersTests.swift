// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ProgramHandoff

struct AdoptedNumbersTests {
    @Test(arguments: [
        ("         0          0 4294967295\n", true),
        ("0 1000 1\n2063597568 100000 65536\n", true),
        ("0 100000 2063663104\n", true),
        ("0 100000 65536\n", false), ("0 100000 2063663103\n", false),
        ("2063597569 100000 65536\n", false),
        ("2063663104 100000 65536\n", false), ("", false), ("0 0\n", false),
        ("18446744073709551615 0 18446744073709551615\n", false),
    ])
    func `the numbers exist where a map has them all`(map: String, exist: Bool) {
        #expect(AdoptedNumbers.exist(in: Array(map.utf8)) == exist)
    }
}
