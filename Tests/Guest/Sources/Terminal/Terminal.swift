// SPDX-License-Identifier: Apache-2.0

public enum Terminal {
    public static func write(_ line: String) { print(line) }
}
