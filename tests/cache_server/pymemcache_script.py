"""Each operation of pymemcache's client once, against the server on the port that is given."""

import sys

from pymemcache.client.base import Client

client = Client(("127.0.0.1", int(sys.argv[1])), default_noreply=False, timeout=20)


def same(found, expected):
    assert found == expected, f"{found!r} instead of {expected!r}"


same(client.set("a", "1"), True)
same(client.get("a"), b"1")
same(client.get("none"), None)
same(client.add("a", "2"), False)
same(client.replace("a", "2"), True)
same(client.append("a", "3"), True)
same(client.prepend("a", "1"), True)
same(client.get("a"), b"123")
same(client.incr("a", 7), 130)
same(client.decr("a", 31), 99)
value, cas = client.gets("a")
same(client.cas("a", "new", cas), True)
same(client.cas("a", "newer", cas), False)
same(client.cas("none", "newer", cas), None)
same(client.touch("a", 100), True)
same(client.get("a"), b"new")
many = {f"key{number}": f"value{number}".encode() for number in range(5000)}
same(client.set_many(many), [])
same(client.get_many(list(many)), many)
same(client.delete("a"), True)
same(client.delete("a"), False)
same(client.set("gone", "x", expire=-1), True)
same(client.get("gone"), None)
same(client.set("large", "x" * 1000000), True)
same(len(client.get("large")), 1000000)
same(client.stats()[b"curr_items"] >= 5000, True)
same(client.version().startswith(b"1."), True)
same(client.flush_all(), True)
same(client.get_many(list(many)), {})
client.set("quiet", "x", noreply=True)
same(client.get("quiet"), b"x")
client.quit()
print("done")
