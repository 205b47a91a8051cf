// SPDX-License-Identifier: Apache-2.0
import KeychainMessages
import Testing

@Suite struct XWindowTests {
    @Test(
        arguments: [
            ("31457287", 31_457_287), ("0x1e00007", 0x1E0_0007), ("0X1E00007", 0x1E0_0007),
            ("x11:1e00007", 0x1E0_0007), ("x11:0x1e00007", 0x1E0_0007), ("0007", 7),
            ("536870911", 0x1FFF_FFFF),
        ] as [(String, UInt32)])
    func `a window's number is read as programs write it`(_ handle: String, _ number: UInt32) {
        #expect(XWindow(handle: handle)?.number == number)
    }

    @Test(arguments: [
        "", "0", "x11:", "0x", "x11:0x", "-7", "+7", " 7", "7 ", "7\n", "7\u{0}", "7\nOPTION a=b",
        "7%0AOPTION", "1e00007", "x11:7,8", "X11:7", "wayland:7", "wayland:", "x11:x11:7", "0x0x7",
        "٧", "７", "7\u{301}", "536870912", "4294967303", "18446744073709551623",
        String(repeating: "9", count: 4096), "0x20000000",
    ])
    func `what is no window's number is no window`(_ handle: String) {
        #expect(XWindow(handle: handle) == nil)
    }
}
