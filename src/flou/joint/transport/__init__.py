"""Messages between parties and coordinator: HTTP/1.1 over TLS 1.3, as little of it as these two need.

Why here    no web framework stands in front of a session. How long a message can be follows from the plan, and how long
            a head, a body or an answer may take is fixed; both hold against clients that stall or never read. A party
            installs nothing for it, and both sides read with the same code.
            docs/explanation/joint-statistics.md compares it with uvicorn, client by client
http        heads and bodies as bytes, strictly: what can be read in two ways is refused
wire        one connection, with a time for everything that is waited for; how long messages can be
tls         certificates, on one side or on both
steps       the steps of a session in time: who is waited for, and how long
server      the coordinator
client      a party
"""
