// SPDX-License-Identifier: Apache-2.0
// The least that a program in Swift costs.
print("hello")
