// SPDX-License-Identifier: Apache-2.0

public typealias OSStatus = Int32

public var noErr: OSStatus { 0 }
