import base64

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils import secure_boot

# openssl req -new -x509 -subj "/CN=goldnode test", EC P-256, DER; openssl x509 -serial prints the number below
CERTIFICATE = base64.b64decode(
    "MIIBhjCCASugAwIBAgIUOob+ix7UVQnmxd5mfeT502tknNwwCgYIKoZIzj0EAwIwGDEWMBQGA1UEAwwNZ29sZG5vZGUgdGVzdDAeFw0yNjEyMDExMjEwNTJaFw0zNjExMjgxMjEwNTJaMBgx"
    "FjAUBgNVBAMMDWdvbGRub2RlIHRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASHkApp8RrUyXiVlh8i68yRAinOh8vZblBTu3bKMHn7gV441AL9XS1QxUheN3jL1DiRNlElyKNMdLec"
    "6tnU0ssyo1MwUTAdBgNVHQ4EFgQU9bAzG1Kw7LBTF03Vbr/Bx1wwDNYwHwYDVR0jBBgwFoAU9bAzG1Kw7LBTF03Vbr/Bx1wwDNYwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBG"
    "AiEAlL8kVvVoeOWeMKqLxXkhgWlOoERAF39KqEJXfbBTN3gCIQC9FKObWr+H2kGNUl9Aop0eFHIQrSKR3lbxT49ejX3cpw=="
)
SERIAL = "3A:86:FE:8B:1E:D4:55:09:E6:C5:DE:66:7D:E4:F9:D3:6B:64:9C:DC"
ON, OFF = b"\x06\0\0\0\x01", b"\x06\0\0\0\0"


@pytest.mark.parametrize(
    ("variables", "on"),
    [
        ({}, False),  # BIOS
        ({"SecureBoot": ON}, True),
        ({"SecureBoot": OFF}, False),
        ({"SecureBoot": ON, "SetupMode": OFF, "MokSBStateRT": OFF}, True),
        ({"SecureBoot": ON, "SetupMode": ON}, False),
        ({"SecureBoot": ON, "MokSBStateRT": ON}, False),
        ({"SecureBoot": b"\x06"}, False),
    ],
)
def test_secure_boot_holds_as_the_kernel_decides_it(variables, on):
    assert secure_boot.is_on(variables) is on


def test_the_serial_number_is_the_certificate_s():
    assert secure_boot.serial_of(CERTIFICATE) == SERIAL


@pytest.mark.parametrize("data", [b"", b"0", b"-----BEGIN CERTIFICATE-----\n", CERTIFICATE[:200], b"\x30\x03\x02\x01\x05"])
def test_what_is_no_der_certificate_is_told(data):
    with pytest.raises(ValueError, match="DER certificate"):
        secure_boot.serial_of(data)


@pytest.mark.parametrize(("key", "signed"), [(SERIAL, True), (SERIAL.lower().replace(":", ""), True), ("5A:0F", False), ("", False)])
def test_a_signature_is_told_by_the_serial_number(key, signed):
    assert secure_boot.is_signed_by({"sig_key": key}, SERIAL) is signed


@pytest.mark.parametrize(
    ("answer", "enrolled"),
    [
        ("/etc/goldnode/module_signing.der is already enrolled\n", True),
        ("/etc/goldnode/module_signing.der is already in the built-in trusted keyring\n", True),
        ("/etc/goldnode/module_signing.der is not enrolled\n", False),
        ("/etc/goldnode/module_signing.der is already in the enrollment request\n", False),
        ("EFI variables are not supported on this system\n", False),
        ("", False),
    ],
)
def test_enrolment_is_told_by_mokutil_s_words(answer, enrolled):
    assert secure_boot.is_enrolled(answer) is enrolled


@pytest.mark.parametrize(
    ("distribution", "signer", "trusted"),
    [
        ("ubuntu", "Canonical Ltd. Kernel Module Signing", True),
        ("debian", "Canonical Ltd. Kernel Module Signing", False),
        ("debian", "Debian Secure Boot CA", True),
        ("rhel", "Red Hat Enterprise Linux Driver Update Program (key 3)", True),
        ("ubuntu", "DKMS module signing key", False),
        ("sles", "SUSE", False),
        ("ubuntu", "", False),
    ],
)
def test_a_distribution_trusts_its_own_signers(distribution, signer, trusted):
    assert secure_boot.is_distributions({"signer": signer}, distribution) is trusted
