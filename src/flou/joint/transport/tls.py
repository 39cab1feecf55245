"""TLS 1.3 for the connections between parties and coordinator.

A party trusts the one certificate (or authority) that it is given, nothing else; a coordinator that is given an
authority for clients talks to nobody without a certificate of it. TLS hides who says what from the network. The
protocol does not rely on it for anything else: messages are signed, and words are masked.
"""

from __future__ import annotations

import ipaddress
import os
import ssl
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from flou.bits import SYSTEM
from flou.errors import InvalidParameter

if TYPE_CHECKING:
    from cryptography import x509

__all__ = ["client_context", "self_signed", "server_context"]

Path: TypeAlias = str | os.PathLike[str]


def server_context(certificate: Path, key: Path, client_ca: Path | None = None) -> ssl.SSLContext:
    """The coordinator's side; with ``client_ca`` every party has to show a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _harden(context)
    context.num_tickets = 0  # a party keeps its connection, there is nothing to resume
    _show(context, certificate, key)
    if client_ca is not None:
        _trust(context, client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def client_context(ca: Path | None = None, certificate: Path | None = None, key: Path | None = None) -> ssl.SSLContext:
    """A party's side: the certificate or authority to trust (the system's authorities without), and its own one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # checks the certificate and the name of the host
    _harden(context)
    if ca is None:
        context.load_default_certs()
    else:
        _trust(context, ca)
    if certificate is not None:
        _show(context, certificate, certificate if key is None else key)
    return context


def _harden(context: ssl.SSLContext) -> None:
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # the certificate itself may be pinned, not only its issuer


def _show(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    try:
        context.load_cert_chain(certificate, key, password=lambda: "")  # no question on the terminal
    except (OSError, ValueError):
        raise InvalidParameter(
            f"The certificate {os.fspath(certificate)!r} cannot be used with the key {os.fspath(key)!r}.",
            "Both are PEM files without a password, and one belongs to the other.",
            "Make a pair with: flou joint certificate --host NAME --out FILE.",
        ) from None


def _trust(context: ssl.SSLContext, ca: Path) -> None:
    try:
        context.load_verify_locations(ca)
    except (OSError, ValueError):
        raise InvalidParameter(
            f"The certificate {os.fspath(ca)!r} cannot be read.",
            "It must be a PEM file with the certificate to trust.",
            "Pass the certificate of the other side, or of the authority that has signed it.",
        ) from None


def self_signed(*hosts: str, days: int = 365) -> tuple[bytes, bytes]:
    """A new certificate for names or addresses of hosts, and its key, both as PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
    from cryptography.x509.oid import NameOID

    try:
        names = [_alternative(host) for host in hosts]
        title = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0][:64])])
    except (IndexError, TypeError, ValueError):
        raise InvalidParameter(
            "A certificate needs the names or addresses of its hosts, in ASCII.",
            "Clients compare them with the address that they connect to.",
            "Pass for example 'localhost', 'sums.example.org' or '192.0.2.1'.",
        ) from None
    key = Ed25519PrivateKey.from_private_bytes(SYSTEM.take(32).tobytes())
    now = datetime.now(UTC)
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    certificate = (
        x509.CertificateBuilder()
        .subject_name(title)
        .issuer_name(title)
        .public_key(key.public_key())
        .serial_number(int.from_bytes(b"\x01" + SYSTEM.take(16).tobytes(), "big"))
        .not_valid_before(now - timedelta(hours=1))  # clocks differ
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(identifier, critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
        .sign(key, None)
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return certificate.public_bytes(Encoding.PEM), secret


def _alternative(host: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        if not host or host.strip() != host:
            raise
        return x509.DNSName(host)
