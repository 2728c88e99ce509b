"""Programs that reach for what lies outside: files, secrets, the memory of others, the network."""

from spadework.harness.sandbox import ErrorKind

from .hostile import FORBIDDEN, Aim, strike

HUNT = """
def hunted(pid, mark):
    found, open_, mark = b"", tool("builtins").open, mark.encode()
    with open_(f"/proc/{pid}/maps") as maps, open_(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in maps:
            span, rights = line.split()[:2]
            start, end = (int(part, 16) for part in span.split("-"))
            if not rights.startswith("rw") or end - start > 1 << 28: continue
            memory.seek(start)
            try: parts = memory.read(end - start).split(mark)[1:20]
            except OSError: continue
            found += b"".join(mark + part[:20] + b" " for part in parts)
    return found.decode("latin-1")[:10_000]
"""
"""Every place in another process that holds a mark."""

WALK = """
def walk(most):
    gc, id_ = tool("gc"), tool("builtins").id
    seen, edge = set(), [tool("sys").modules]
    while edge and len(seen) < most:
        part = edge.pop()
        if id_(part) in seen: continue
        seen.add(id_(part))
        yield part
        edge += gc.get_referents(part)

def marks(t, text):
    import re
    return sorted(set(re.findall(t["mark"] + "[a-z]+-[0-9a-f]{16}", text)))
"""
"""Every object of the own process, by way of its modules; and every secret in a text."""

FILES = (
    strike("read_secret", Aim.SECRET, FORBIDDEN, "return tool('builtins').open(t['canary']).read()"),
    strike("read_raw", Aim.SECRET, FORBIDDEN, """
os = tool("os")
return os.read(kernel(t["calls"]["openat"], -100, t["canary"].encode(), 0, 0), 100).decode()
"""),
    strike("read_openat2", Aim.SECRET, FORBIDDEN, """
ctypes = tool("ctypes")
how = ctypes.byref((ctypes.c_uint64 * 3)(0, 0, 0))
return tool("os").read(kernel(t["calls"]["openat2"], -100, t["canary"].encode(), how, 24), 100).decode()
"""),
    strike("read_by_handle", Aim.SECRET, FORBIDDEN, """
ctypes, os = tool("ctypes"), tool("os")
handle = (ctypes.c_uint32 * 34)(128)
mount = ctypes.c_int()
where = t["canary"].encode()
kernel(t["calls"]["name_to_handle_at"], -100, where, ctypes.byref(handle), ctypes.byref(mount), 0)
root = os.open(t["folder"], os.O_RDONLY)
return os.read(kernel(t["calls"]["open_by_handle_at"], root, ctypes.byref(handle), 0), 100).decode()
"""),
    strike("read_passwd", Aim.SECRET, FORBIDDEN, "return tool('builtins').open('/etc/passwd').readline()"),
    strike("read_source", Aim.SECRET, FORBIDDEN, "return tool('builtins').open(t['source']).read(400)"),
    strike("read_link", Aim.TOKEN, FORBIDDEN, "return 'REACHED ' + tool('os').readlink('/proc/self/exe')"),
    strike("stat", Aim.TOKEN, FORBIDDEN, "return f\"REACHED {tool('os').stat(t['canary']).st_size}\""),
    strike("listdir", Aim.SECRET, FORBIDDEN, "return ' '.join(tool('os').listdir(t['folder']))"),
    strike("write_tmp", Aim.FILE, FORBIDDEN, "tool('builtins').open(t['folder'] + '/written', 'w').write('x')"),
    strike("fill_disk", Aim.FILE, FORBIDDEN, """
file = tool("builtins").open(t["folder"] + "/filled", "wb")
for _ in range(50): file.write(bytes(1 << 20))
"""),
    strike("truncate", Aim.FILE, FORBIDDEN, "tool('os').truncate(t['canary'], 0)"),
    strike("unlink", Aim.FILE, FORBIDDEN, "tool('os').unlink(t['canary'])"),
    strike("rename", Aim.FILE, FORBIDDEN, "tool('os').rename(t['canary'], t['canary'] + '.gone')"),
    strike("symlink", Aim.FILE, FORBIDDEN, "tool('os').symlink('/', t['folder'] + '/link')"),
    strike("mkdir", Aim.FILE, FORBIDDEN, "tool('os').mkdir(t['folder'] + '/made')"),
    strike("mkfifo", Aim.FILE, FORBIDDEN, "tool('os').mkfifo(t['folder'] + '/fifo')"),
    strike("chmod", Aim.FILE, FORBIDDEN, "tool('os').chmod(t['canary'], 0o4755)"),
)  # fmt: skip

SECRETS = (
    strike("proc_environ", Aim.SECRET, FORBIDDEN, """
found, refused = b"", None
for who in ("self", "1", str(t["host"])):
    try: found += tool("builtins").open(f"/proc/{who}/environ", "rb").read()
    except OSError as error: refused = error
if refused and not found: raise refused
at = found.find(t["variable"].encode())
return found[max(at, 0) : at + 200].decode("utf-8", "replace")
"""),
    strike("os_environ", Aim.SECRET, (None,), "return str(dict(tool('os').environ))[:10_000]"),
    strike("c_environ", Aim.SECRET, (None,), """
ctypes = tool("ctypes")
place, found = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ"), []
while place[len(found)]: found.append(place[len(found)])
return b" ".join(found).decode("utf-8", "replace")[:10_000]
"""),
    strike("fd_scan", Aim.SECRET, (None,), """
os, found = tool("os"), b""
for number in range(256):
    if number == 3: continue
    try: found += os.pread(number, 100, 0)
    except OSError: pass
return found.decode("utf-8", "replace")
"""),
    strike("proc_mem_host", Aim.SECRET, FORBIDDEN, f"{HUNT}\nreturn hunted(t['host'], t['mark'] + 'host-')"),
    strike("proc_mem_peer", Aim.SECRET, FORBIDDEN, f"{HUNT}\nreturn hunted(t['peer'], t['mark'] + 'peer-')"),
    strike("vm_read_host", Aim.TOKEN, FORBIDDEN, """
ctypes = tool("ctypes")
there = ctypes.create_string_buffer(16)
pair = ctypes.c_uint64 * 2
own, theirs = pair(ctypes.addressof(there), 16), pair(4096, 16)
return gate(t["calls"]["process_vm_readv"], t["host"], ctypes.byref(own), 1, ctypes.byref(theirs), 1, 0)
"""),
    strike("take_fd", Aim.TOKEN, FORBIDDEN, """
held = kernel(t["calls"]["pidfd_open"], t["host"], 0)
return gate(t["calls"]["pidfd_getfd"], held, 0, 0)
"""),
    strike("hunt_objects", Aim.SECRET, (None, ErrorKind.TIMEOUT), f"""{WALK}
texts = [str(part) for part in walk(200_000) if type(part) in (str, bytes)]
return " ".join(marks(t, "\\n".join(texts)))
"""),
    strike("hunt_memory", Aim.SECRET, (None, ErrorKind.TIMEOUT), f"""{WALK}
string_at, id_ = tool("ctypes").string_at, tool("builtins").id
pages = sorted({{id_(part) >> 12 for part in walk(200_000)}})
return " ".join(marks(t, "".join(string_at(page << 12, 4096).decode("latin-1") for page in pages)))
"""),
)  # fmt: skip

NETWORK = (
    strike("tcp", Aim.CONNECTION, FORBIDDEN, """
socket = tool("_socket")
socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0).connect(("127.0.0.1", t["tcp"]))
"""),
    strike("udp", Aim.CONNECTION, FORBIDDEN, """
socket = tool("_socket")
socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 0).sendto(b"x", ("127.0.0.1", t["udp"]))
"""),
    strike("abstract_unix", Aim.CONNECTION, FORBIDDEN, """
socket = tool("_socket")
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM, 0).sendto(b"x", b"\\0" + t["abstract"].encode())
"""),
    strike("path_unix", Aim.CONNECTION, FORBIDDEN, """
socket = tool("_socket")
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM, 0).sendto(b"x", t["socket"])
"""),
    strike("listen", Aim.TOKEN, FORBIDDEN, """
socket = tool("_socket")
ear = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0)
ear.bind(("127.0.0.1", 0))
ear.listen(1)
return f"REACHED {ear.getsockname()}"
"""),
    strike("netlink", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['socket'], 16, 3, 0)"),
    strike("raw_socket", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['socket'], 2, 3, 1)"),
    strike("packet_socket", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['socket'], 17, 3, 0)"),
    strike("vsock", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['socket'], 40, 1, 0)"),
    strike("pair_of_sockets", Aim.TOKEN, FORBIDDEN, """
ends = (tool("ctypes").c_int * 2)()
return gate(t["calls"]["socketpair"], 1, 1, 0, tool("ctypes").byref(ends))
"""),
)  # fmt: skip

INTRUDING = (*FILES, *SECRETS, *NETWORK)
