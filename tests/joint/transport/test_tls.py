"""Certificates: pinned ones pass, all others are refused, on both sides."""

import asyncio
import ssl

import pytest

from flou.errors import InvalidParameter, ProtocolError
from flou.joint.transport.client import attend, fetched_plan
from flou.joint.transport.tls import client_context, self_signed, server_context
from joint.transport.served import Group, Served, certificate, total


def test_a_certificate_that_is_not_the_pinned_one(tmp_path):
    """A party refuses another certificate, and one that no authority vouches for."""
    group = Group()
    other, _ = certificate(tmp_path, "other", "localhost")

    async def main():
        async with Served(tmp_path, group) as served:
            for context in (client_context(other), client_context()):
                with pytest.raises(ProtocolError, match="certificate is not trusted"):
                    await fetched_plan(served.url, context, give_up=5)

    asyncio.run(main())


def test_a_name_that_is_not_in_the_certificate(tmp_path):
    """The name of the host counts, even if the certificate is trusted."""
    group = Group()

    async def main():
        served = Served(tmp_path, group)
        files = certificate(tmp_path, "elsewhere", "sums.example.org")
        served.context, served.trust = server_context(*files), client_context(files[0])
        async with served:
            with pytest.raises(ProtocolError, match=r"certificate is not trusted \(Hostname mismatch"):
                await fetched_plan(served.url, served.trust, give_up=5)

    asyncio.run(main())


def test_mutual_tls(tmp_path):
    """With an authority for clients, parties without a certificate, or with an unknown one, hear nothing."""
    group = Group()
    known = [certificate(tmp_path, f"p{place}", f"p{place}") for place in range(3)]
    unknown = certificate(tmp_path, "unknown", "p0")
    bundle = tmp_path / "clients.pem"
    bundle.write_bytes(b"".join(public.read_bytes() for public, _ in known))

    async def main():
        async with Served(tmp_path, group, client_ca=bundle) as served:
            ca = served.files[0]
            for context in (client_context(ca), client_context(ca, *unknown)):
                with pytest.raises(ProtocolError, match="closes the connection to this party"):
                    await fetched_plan(served.url, context, give_up=5)
            assert len(served.session.missing) == 3
            return await asyncio.gather(
                *(attend(group.party(place), served.url, client_context(ca, *known[place])) for place in range(3))
            )

    assert [fit.totals.tolist() for fit in asyncio.run(main())] == [total(range(3))] * 3


def test_older_versions_and_no_tls(tmp_path):
    """TLS 1.2 is not spoken, and neither is anything in the clear."""
    group = Group()

    async def main():
        async with Served(tmp_path, group) as served:
            old = ssl.create_default_context(cafile=served.files[0])
            old.maximum_version = ssl.TLSVersion.TLSv1_2
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await served.line(old)
            reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
            writer.write(b"GET /plan HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try:
                heard = await asyncio.wait_for(reader.read(), 5)
            except ConnectionError:
                heard = b""
            assert b"HTTP" not in heard
            writer.close()
            line = await served.line()
            assert line.writer.get_extra_info("ssl_object").version() == "TLSv1.3"
            await line.close()

    asyncio.run(main())


def test_files_that_cannot_be_used(tmp_path):
    """Missing, mixed up and protected files are refused, and nobody is asked for a password."""
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        PrivateFormat,
        load_pem_private_key,
    )

    public, key = certificate(tmp_path, "a", "localhost")
    other, _ = certificate(tmp_path, "b", "localhost")
    secret = load_pem_private_key(key.read_bytes(), None)
    locked = tmp_path / "locked.pem"
    locked.write_bytes(secret.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"word")))
    nothing = tmp_path / "nothing.pem"
    for pair in ((public, nothing), (nothing, key), (other, key), (key, public), (public, locked)):
        with pytest.raises(InvalidParameter, match="cannot be used with the key"):
            server_context(*pair)
        with pytest.raises(InvalidParameter, match="cannot be used with the key"):
            client_context(public, *pair)
    for ca in (nothing, key):
        with pytest.raises(InvalidParameter, match="cannot be read"):
            client_context(ca)
        with pytest.raises(InvalidParameter, match="cannot be read"):
            server_context(public, key, ca)


@pytest.mark.parametrize("hosts", [(), ("",), (" a",), ("ü.example",), (3,)])
def test_hosts_of_certificates(hosts):
    """A certificate is for hosts with proper names."""
    with pytest.raises(InvalidParameter, match="needs the names or addresses"):
        self_signed(*hosts)
