"""An authority of its own, as each cluster has one, and a server's certificate that it signs."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_DAY = datetime.timedelta(days=1)


def _certificate(name: str, signer: str, key: ec.EllipticCurvePrivateKey, signing: ec.EllipticCurvePrivateKey,
                 extension: x509.ExtensionType) -> bytes:  # fmt: skip
    now = datetime.datetime.now(datetime.UTC)
    made = x509.CertificateBuilder(
        x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, signer)]),
        x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]),
        key.public_key(), x509.random_serial_number(), now - _DAY, now + _DAY,
    )  # fmt: skip
    signed = made.add_extension(extension, critical=True).sign(signing, hashes.SHA256())
    return signed.public_bytes(serialization.Encoding.PEM)


class Authority:
    """A certificate authority that nobody else knows; `pem` is what a cluster's description holds of it."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.pem = _certificate("cluster", "cluster", self._key, self._key, x509.BasicConstraints(True, None))

    def server(self, folder: Path) -> ssl.SSLContext:
        """What a server on this machine needs to be vouched for."""
        key = ec.generate_private_key(ec.SECP256R1())
        place = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        file = folder / "server.pem"
        file.write_bytes(
            _certificate("server", "cluster", key, self._key, place)
            + key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context
