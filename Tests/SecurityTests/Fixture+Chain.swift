// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Certificates of an authority that issues them properly, made like the others.
extension Fixture {
    /// RSA, an authority, issued by itself.
    static let anchor = chained(
        """
        MIIDVTCCAj2gAwIBAgIUR/NlZYPvFaFkIqd4ON3Oy+3ngXUwDQYJKoZIhvcNAQEMBQAwMTEWMBQGA1UECgwNRXhhbXBs
        ZSBUcnVzdDEXMBUGA1UEAwwORXhhbXBsZSBBbmNob3IwIBcNMjYxMTIxMTEyMDQ2WhgPMjA1MTA3MTMxMTIwNDZaMDEx
        FjAUBgNVBAoMDUV4YW1wbGUgVHJ1c3QxFzAVBgNVBAMMDkV4YW1wbGUgQW5jaG9yMIIBIjANBgkqhkiG9w0BAQEFAAOC
        AQ8AMIIBCgKCAQEAy+eUJR+Z5vAyo+NIgyfzD+4APgFvI9FsfMLI8XqKUEs53QXi1uZexrUlInx682kvuoEyb+dOz7g2
        qgdsd3qokZAKqIb5V19lRPwPR3wiYr5EMjDP3R+jkY7H3QRaTdJ7Yz7oDQJc5ZWEO+k74iFdpiZJNIhN49A23lKrRL2H
        3Vdgu56DS6qscmEP4QV4jZAEfCqjWZXmjvWDZ8rVi/KY0TE75KDHXuHH6RvNE3/BVC9ioBwdSMYZj6ftvEIhPEXblGoz
        3kIRZYTRN+apX8BntRS2rKK3s4aY0lz+ep6T12eCHK8JOqEeEbCyiDEmJDMkQ0lQ1u8ZlypMwVlONRNWvQIDAQABo2Mw
        YTAdBgNVHQ4EFgQUKIRPu3ftF9JkrYhNZoO3tYbMPF8wHwYDVR0jBBgwFoAUKIRPu3ftF9JkrYhNZoO3tYbMPF8wDwYD
        VR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwDQYJKoZIhvcNAQEMBQADggEBAHNMTDAq9BqZ2he0wbTcPevmu6lZ
        PEwXDZdDzRWbEiRRBzXoYkWwP2oK2FamvjLKBE6L0AK+Okd5h4T40TYQEg4fdpbpSKjsGFSY9EhzdqGRJYx3Tle0eT+m
        XjWp/Vau5BvyqnkRLGrkVQhXIU3hfwFPXldL4YCyNP+KA1r/cL8g/150zCXZEjZrCiS0HGSIVmXMCfKd1uGcWcQ4QRus
        XkZ2O5IAvWkqouXyayxjWuq7oT606l+NTNcWt5DTU5DJOTUtzDW1IOdBVxtQzAxzC9sFRfqqVXN4Q9Qm9Xs745ZCg8Ci
        9yIYVpm9qLUV5qJLXTpmFlio8xc9gf4CecgztWE=
        """)

    /// P-384, an authority with no other below it, issued by the anchor.
    static let issuer = chained(
        """
        MIICqjCCAZKgAwIBAgIUWotw3taBd7Qr6LHZYZZAGD4bJLkwDQYJKoZIhvcNAQELBQAwMTEWMBQGA1UECgwNRXhhbXBs
        ZSBUcnVzdDEXMBUGA1UEAwwORXhhbXBsZSBBbmNob3IwIBcNMjYxMTIxMTEyMDQ2WhgPMjA1MTA3MDMxMTIwNDZaMDEx
        FjAUBgNVBAoMDUV4YW1wbGUgVHJ1c3QxFzAVBgNVBAMMDkV4YW1wbGUgSXNzdWVyMHYwEAYHKoZIzj0CAQYFK4EEACID
        YgAEhhKR4uI3a8jhtFoEzlZD8uedjt+o488mls0w/c5XNkCg/5kCKtfgPgWJJvnmE47ioIaaBgat/YgIveYLZZ4RvAOa
        Ysze4DIgYaOW1r0xflsXKVDD3r2A0KnH49/B5LbFo2YwZDASBgNVHRMBAf8ECDAGAQH/AgEAMA4GA1UdDwEB/wQEAwIC
        BDAdBgNVHQ4EFgQU92i8xJM0b3UPchhnOflsTh1NZdMwHwYDVR0jBBgwFoAUKIRPu3ftF9JkrYhNZoO3tYbMPF8wDQYJ
        KoZIhvcNAQELBQADggEBAEDrGVRCFcHclurIXny9ZnAwptLnoJIgX882rvh5WkLGyP+XN9TwcXFu5PbkPni0IR3i6N//
        zDxU5BxWuNakO9y1+8CeyFRHSn89/t6g2tbA9fZvLNCjKr4jlpjLsrA9lvNUHves2JemaDIXjxS52FHb0nzKsAQfjkVq
        G42plQxrZsC29md/cFqpVEe3hGIipbzcGdUo1CVzyvCIxv6Sye9t1WdJLNwV/E++eg6WuGLzUGNBDnQJG3V/AZ16foWv
        xa5/n8wwb7VMzYRhlGV3r1I/YR9OHXHu+DsQJVh2ssvLB0xmLLWB8jj2cDz/fIpa22yCBb70rdWHaa1QRJuiTz8=
        """)

    /// P-256, for www.example.org and *.shop.example.org, for servers, issued by the issuer.
    static let server = chained(
        """
        MIICFTCCAZugAwIBAgIUNpZ+A6q7/uGxw8S+Ek1M1EHa24QwCgYIKoZIzj0EAwMwMTEWMBQGA1UECgwNRXhhbXBsZSBU
        cnVzdDEXMBUGA1UEAwwORXhhbXBsZSBJc3N1ZXIwIBcNMjYxMTIxMTEyMDQ2WhgPMjA1MTA2MjMxMTIwNDZaMBkxFzAV
        BgNVBAMMDkV4YW1wbGUgU2VydmVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEZZoJG3JO78RpYhDftubguFdoK7wH
        LEZz7xRTjUZPx82moeMpiryCQzcy2frGNhEEnOCOb25BvCkEykKdIwUFyKOBpjCBozAMBgNVHRMBAf8EAjAAMA4GA1Ud
        DwEB/wQEAwIHgDATBgNVHSUEDDAKBggrBgEFBQcDATAuBgNVHREEJzAlgg93d3cuZXhhbXBsZS5vcmeCEiouc2hvcC5l
        eGFtcGxlLm9yZzAdBgNVHQ4EFgQUOeury6JZ0OO6zpVSJXKD40mSB4owHwYDVR0jBBgwFoAU92i8xJM0b3UPchhnOfls
        Th1NZdMwCgYIKoZIzj0EAwMDaAAwZQIxAL+DEOI+kd37gx33PhN35l2d8Ey7+1F2BEP8GMlmN5WbBqUqzaPvETCANhrl
        ZvDv+wIwbJiCQbDbyfxOifFF7EYctQeMm54T/UHrfmXYYVtn+sAbd3t2b0+erpu74mgs6o+u
        """)

    /// Ed25519, signed by the server's key, which is no authority.
    static let forgery = chained(
        """
        MIIBZjCCAQygAwIBAgIUUwjho1TMBNJHb3FpXHcZDAFDg20wCgYIKoZIzj0EAwIwGTEXMBUGA1UEAwwORXhhbXBsZSBT
        ZXJ2ZXIwIBcNMjYxMTIxMTEyMDQ2WhgPMjA1MTA2MTMxMTIwNDZaMBoxGDAWBgNVBAMMD0V4YW1wbGUgRm9yZ2VyeTAq
        MAUGAytlcAMhAL8N1YRGsojLivYbeXX3kridGpL6qSZpvYTX9imdx4dWo14wXDAaBgNVHREEEzARgg93d3cuZXhhbXBs
        ZS5vcmcwHQYDVR0OBBYEFOHTIW6qq0SHyvTv23bOJscIgwdsMB8GA1UdIwQYMBaAFDnrq8uiWdDjus6VUiVyg+NJkgeK
        MAoGCCqGSM49BAMCA0gAMEUCIHcBps4lSYrl/pTA9iXUBWMSp6syyZ98kLlPUttFWcyDAiEAv96q8s5jXh2lnroiwnpn
        bpMYdBuWFy4mMZCBw2a6Qps=
        """)

    private static func chained(_ text: String) -> Data {
        Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data()
    }

    /// The certificate as files keep it.
    static func pem(_ der: Data) -> String {
        "-----BEGIN CERTIFICATE-----\n\(der.base64EncodedString())\n-----END CERTIFICATE-----\n"
    }
}
