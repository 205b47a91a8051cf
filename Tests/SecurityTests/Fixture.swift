// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Certificates and keys that were made for these tests by another implementation, and protect
/// nothing.
enum Fixture {
    /// The name of its organisation has two blanks. P-256, issued by itself.
    static let root = data(
        """
        MIIBSzCB86ADAgECAgEBMAoGCCqGSM49BAMCMDAxFzAVBgNVBAoMDkV4YW1wbGUgIFdvcmtzMRUwEwYDVQQD
        DAxFeGFtcGxlIFJvb3QwHhcNMjAwMTAxMDAwMDAwWhcNNDkwMTAxMDAwMDAwWjAwMRcwFQYDVQQKDA5FeGFt
        cGxlICBXb3JrczEVMBMGA1UEAwwMRXhhbXBsZSBSb290MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEFwZd
        zVTLvF5Lg+Z9VvHbes51t4FY4RkmetIBEhTkSAnda9Y6s5MN2rQIXOaEVNEzRxeqxDHnMQo2nMGrpAtozTAK
        BggqhkjOPQQDAgNHADBEAiBJF4kvFghdHXFjMlXHzqlzs+Ljw1R/gqMiIn0lraj0vAIgDBlqx3At5zFe2mJs
        kwoPcwy0024509PnlxHKaGkXkZI=
        """)

    /// P-384, issued by the root; its serial number has a high bit.
    static let intermediate = data(
        """
        MIIBcjCCARigAwIBAgICAIAwCgYIKoZIzj0EAwIwMDEXMBUGA1UECgwORXhhbXBsZSAgV29ya3MxFTATBgNV
        BAMMDEV4YW1wbGUgUm9vdDAeFw0yMDAxMDEwMDAwMDBaFw00OTAxMDEwMDAwMDBaMDcxFjAUBgNVBAoMDUV4
        YW1wbGUgV29ya3MxHTAbBgNVBAMMFEV4YW1wbGUgSW50ZXJtZWRpYXRlMHYwEAYHKoZIzj0CAQYFK4EEACID
        YgAEik/1JvljgiVSakfY8gj9Fp66rVSjYA0X49tQZ4iRR4lQZeqUXym5raTI8B8jaFpNeALUAlGIRAIR+T/f
        o+nNbJEF5qIEB9F0+Wo5Vkeuq31aAINLeRyXqTTQcRhoOjBHMAoGCCqGSM49BAMCA0gAMEUCIQDTYt244UwH
        ikHTx0MUSKedyR2p7zZDei/VDul4bK7OvQIgNDD3GqXQSEYOaXLI3Byj2JRhR/hPu/QmsXRRL2ZTy6s=
        """)

    /// P-256, issued by the intermediate, for zoe@example.org.
    static let leaf = data(
        """
        MIIBrDCCATKgAwIBAgICEjQwCgYIKoZIzj0EAwIwNzEWMBQGA1UECgwNRXhhbXBsZSBXb3JrczEdMBsGA1UE
        AwwURXhhbXBsZSBJbnRlcm1lZGlhdGUwHhcNMjQwMTAxMDAwMDAwWhcNNDUwMTAxMDAwMDAwWjAXMRUwEwYD
        VQQDDAxab8OrIEV4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARrDnu4k6/EUP//IpDipVJQ2iFx
        fi0LSLwkKPPyj7kVq6N5tcAmwZjPlXNvC0e2c6y06JyjyO5HAousBCNMD5p1o04wTDArBgNVHREEJDAigQ96
        b2VAZXhhbXBsZS5vcmeCD3d3dy5leGFtcGxlLm9yZzAdBgNVHQ4EFgQUomSzV71d/94gRmu2bka1q+6rNrAw
        CgYIKoZIzj0EAwIDaAAwZQIxAJm7ObK2yTsE6BvTtzMkCh/WLIoy9XLD5XwVlSEVfhzgA4ycc0+eXavPS5Vh
        5cb2dAIwFt1BZpq70RiveDV1RhGnEnIAVVjFBBFhpRsfo289Iv0tn3IibPJe6tT02lTNR95v
        """)

    /// RSA with 2048 bits, issued by the root, valid in 2001; its subject has no common name.
    static let expired = data(
        """
        MIIB+zCCAaCgAwIBAgIBBzAKBggqhkjOPQQDAjAwMRcwFQYDVQQKDA5FeGFtcGxlICBXb3JrczEVMBMGA1UE
        AwwMRXhhbXBsZSBSb290MB4XDTAxMDEwMTAwMDAwMFoXDTAyMDEwMTAwMDAwMFowEjEQMA4GA1UECwwHQXJj
        aGl2ZTCCASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEBALAHRK7sc7+qclIk/2JVKJ3P0pn76SWpVQDh
        I5TtaAJTBpxnnxMWp1tnvf3PdmFNx1jQGJgC8rQodw5PYr7xTfX3+nYhssnMdSYpmdTpbsLNYoo4GBJvE7EP
        woLDozSvD10l8sIgHwGilq2hFSDY/XRcSYuWWXCgeDT9pvZSQ9vCfUQM27mTpjt/O2Bz4TmQenhssGh03bUC
        kmTbN73kmDRYv4WdCGBNQmJalcSkuwn9sgKWJOYRGJhqIXYkBmzFik+Uy8ITMdaDbf+rxwtcf51ttirpWxeR
        q4+Pv60uQ1B4i+aFfTa2DT39hC1ppAuheins1VrV9WkK73DWNkZIHtsCAwEAATAKBggqhkjOPQQDAgNJADBG
        AiEA7PXzE/kIRexf6Ke2iP1umc1ZUSf4PpPocd/56O2EQXcCIQDahD5azM8DijbikFQxV6qaFSlQYZDrQp0x
        zKHZbyw5BA==
        """)

    /// Ed25519, issued by the root.
    static let ed25519 = data(
        """
        MIH8MIGjoAMCAQICAQkwCgYIKoZIzj0EAwIwMDEXMBUGA1UECgwORXhhbXBsZSAgV29ya3MxFTATBgNVBAMM
        DEV4YW1wbGUgUm9vdDAgFw0yMDAxMDEwMDAwMDBaGA8yMDYwMDEwMTAwMDAwMFowDTELMAkGA1UEAwwCRWQw
        KjAFBgMrZXADIQBd9lO3ZJGfeeBnghcGqvQdq0xHWyJIgioSShpzvF3QtDAKBggqhkjOPQQDAgNIADBFAiEA
        x8CFR3ICR8sItpP+ON4DNeC1Bro5FustE8EvTDs7RGECIHPijhoX+eEYCUA5o2tEw4fXDrtA2b98jdEc3QWw
        mATz
        """)

    /// The private key of the leaf.
    static let leafKey = data(
        """
        BGsOe7iTr8RQ//8ikOKlUlDaIXF+LQtIvCQo8/KPuRWro3m1wCbBmM+Vc28LR7ZzrLTonKPI7kcCi6wEI0wP
        mnUnY6FXhkrR4Z73roTeTkphDn9DMTwPDSt9gbBdaiWmfw==
        """)

    /// The private key of the expired certificate, as PKCS #1.
    static let rsaKey = data(
        """
        MIIEowIBAAKCAQEAsAdEruxzv6pyUiT/YlUonc/SmfvpJalVAOEjlO1oAlMGnGefExanW2e9/c92YU3HWNAY
        mALytCh3Dk9ivvFN9ff6diGyycx1JimZ1Oluws1iijgYEm8TsQ/CgsOjNK8PXSXywiAfAaKWraEVINj9dFxJ
        i5ZZcKB4NP2m9lJD28J9RAzbuZOmO387YHPhOZB6eGywaHTdtQKSZNs3veSYNFi/hZ0IYE1CYlqVxKS7Cf2y
        ApYk5hEYmGohdiQGbMWKT5TLwhMx1oNt/6vHC1x/nW22KulbF5Grj4+/rS5DUHiL5oV9NrYNPf2ELWmkC6F6
        KezVWtX1aQrvcNY2Rkge2wIDAQABAoIBACSvlxpnsCXpZYMGL+1z9w+QwQETlb8iH9ObmFlQ8yTM3etZ0zbc
        uUtc/yU3CCJ2Xc3+LKn9r0xpxIpIdDl8O/W/1USqeEMDaATolaVgcxOJT3ikASxSVwXHVZAAKvLvayHMJ2Ba
        5mtmUcXk9OzQHF6UX0WGs6Q75WGR3aqncXoKoV82OggDZQCo4tG9Fa1rp9C/3oR6aWvOMcbBdIFzOTP72uep
        ovmom5e6OEXCqsTac03VlQct2dMNx8qiP1y52NTAE4n8JjrBc9yPqoAM71/+HHzqPMDxPdcUktsN1SxV7nZD
        kNtjprJ3VBGeJUt2mwXv6uUhygvT2G3prl9XYa0CgYEA5jpmuoPx42Cbfb6V+1WFeQUC9R5d+2OSuKEdMGvO
        zhAk7Q44bVxkxAfAMg5phfyTBAKEwK5YabnddykeeNFUwoCdjD/wSYexchMCNiU3Qs/S8w+D1x00mzpsQm8U
        vl8BYIIWz7qir6E2UmXzxn8+Y42c54Np9s8+V9/NVd5vSB8CgYEAw7utNcGwjIvj7bcCte125REExvzjgJRD
        OOUqesKOmBp0fLxpuEIO39RZ5Sj8YWXSqZJUkZIS6U++y8ljt7RKK0Z2hDDJ4k11PfIzTA/GUMGeY6YeMhPV
        0a2puiUv1Bdjywptqc1ypMSFnynsGOoc4xN/3gC36MqNMHnIMubygcUCgYA5gOLBuU0EXs/Xg2/Qm9a/mGnZ
        sWEF9iPia5Nv0a2QuGWQtBmR7x7X+5ucpQ7kQWay/LINsj4xAhR3u9R5lsdV4Wv4aMvqgbLnbCoEPh1kWaY1
        wW1LoGbQUrJRkY8b0Xz1juiFr/cMaPa5c++EZ6m8kdVb2e3wkGjg5+xQg0NGPwKBgQCv8mUhjZtGu/mIFps5
        Lt1RzJqexXU8gAptepNVBs9nq2BLQJNILxlv21NzzAQTCZT1GbUrpkOZtzWrur0IxehmPlELQ1A3PanGpZG3
        Lfb3YRUgPpOmMG5krdeEnSkBXoU2X4l0uln0AzSafvTc8JZHCaBH0B2CBZIloVN1bmVQgQKBgHG6bzipc3wv
        89dMRnFTStgwZaVuo59py20QJBj5qh9sw8cK2+j9dlY0m1upWWF4+eo24Zhvy6ZppLPcpRY9ruHgNSKwpREW
        wCMVDtuKtySG8QDWj0TGNd01f93/vjgFuK6LC7JMhyOjoaXfQ5SXY9PID5pLUutW8JJSviE7OK1+
        """)

    /// The same as PKCS #8.
    static let rsaKeyPKCS8 = data(
        """
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCwB0Su7HO/qnJSJP9iVSidz9KZ++klqVUA
        4SOU7WgCUwacZ58TFqdbZ739z3ZhTcdY0BiYAvK0KHcOT2K+8U319/p2IbLJzHUmKZnU6W7CzWKKOBgSbxOx
        D8KCw6M0rw9dJfLCIB8BopatoRUg2P10XEmLlllwoHg0/ab2UkPbwn1EDNu5k6Y7fztgc+E5kHp4bLBodN21
        ApJk2ze95Jg0WL+FnQhgTUJiWpXEpLsJ/bICliTmERiYaiF2JAZsxYpPlMvCEzHWg23/q8cLXH+dbbYq6VsX
        kauPj7+tLkNQeIvmhX02tg09/YQtaaQLoXop7NVa1fVpCu9w1jZGSB7bAgMBAAECggEAJK+XGmewJellgwYv
        7XP3D5DBAROVvyIf05uYWVDzJMzd61nTNty5S1z/JTcIInZdzf4sqf2vTGnEikh0OXw79b/VRKp4QwNoBOiV
        pWBzE4lPeKQBLFJXBcdVkAAq8u9rIcwnYFrma2ZRxeT07NAcXpRfRYazpDvlYZHdqqdxegqhXzY6CANlAKji
        0b0VrWun0L/ehHppa84xxsF0gXM5M/va56mi+aibl7o4RcKqxNpzTdWVBy3Z0w3HyqI/XLnY1MATifwmOsFz
        3I+qgAzvX/4cfOo8wPE91xSS2w3VLFXudkOQ22OmsndUEZ4lS3abBe/q5SHKC9PYbemuX1dhrQKBgQDmOma6
        g/HjYJt9vpX7VYV5BQL1Hl37Y5K4oR0wa87OECTtDjhtXGTEB8AyDmmF/JMEAoTArlhpud13KR540VTCgJ2M
        P/BJh7FyEwI2JTdCz9LzD4PXHTSbOmxCbxS+XwFgghbPuqKvoTZSZfPGfz5jjZzng2n2zz5X381V3m9IHwKB
        gQDDu601wbCMi+PttwK17XblEQTG/OOAlEM45Sp6wo6YGnR8vGm4Qg7f1FnlKPxhZdKpklSRkhLpT77LyWO3
        tEorRnaEMMniTXU98jNMD8ZQwZ5jph4yE9XRram6JS/UF2PLCm2pzXKkxIWfKewY6hzjE3/eALfoyo0wecgy
        5vKBxQKBgDmA4sG5TQRez9eDb9Cb1r+YadmxYQX2I+Jrk2/RrZC4ZZC0GZHvHtf7m5ylDuRBZrL8sg2yPjEC
        FHe71HmWx1Xha/hoy+qBsudsKgQ+HWRZpjXBbUugZtBSslGRjxvRfPWO6IWv9wxo9rlz74RnqbyR1VvZ7fCQ
        aODn7FCDQ0Y/AoGBAK/yZSGNm0a7+YgWmzku3VHMmp7FdTyACm16k1UGz2erYEtAk0gvGW/bU3PMBBMJlPUZ
        tSumQ5m3Nau6vQjF6GY+UQtDUDc9qcalkbct9vdhFSA+k6YwbmSt14SdKQFehTZfiXS6WfQDNJp+9NzwlkcJ
        oEfQHYIFkiWhU3VuZVCBAoGAcbpvOKlzfC/z10xGcVNK2DBlpW6jn2nLbRAkGPmqH2zDxwrb6P12VjSbW6lZ
        YXj56jbhmG/Lpmmks9ylFj2u4eA1IrClERbAIxUO24q3JIbxANaPRMY13TV/3f++OAW4rosLskyHI6Ohpd9D
        lJdj08gPmktS61bwklK+ITs4rX4=
        """)

    /// The private key of the Ed25519 certificate.
    static let ed25519Key = data(
        """
        ilw/voqyIx4EwClDvqQ1hDHlalQNQzfWK8Diw+SzuLg=
        """)

    private static func data(_ text: String) -> Data {
        Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data()
    }
}
