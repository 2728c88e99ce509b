"""Programs that attack by what they answer: forged frames, huge and odd values, exceptions that run code when they are
looked at; and programs that change what the worker, the next program or a neighbour works with."""

from spadework.harness.sandbox import ErrorKind

from .hostile import FORBIDDEN, STRIKE, TOOLS, Aim, Hostile, answer, strike

PROTOCOL, CONTRACT, EXCEPTION = ErrorKind.PROTOCOL, ErrorKind.CONTRACT, ErrorKind.EXCEPTION
OBSERVATION, REWARD, INFO = ErrorKind.OBSERVATION, ErrorKind.REWARD, ErrorKind.INFO
TIMEOUT, HANG, MEMORY = ErrorKind.TIMEOUT, ErrorKind.HANG, ErrorKind.MEMORY
EARLY_EXIT = ErrorKind.EARLY_EXIT


def forged(name: str, payload: str, aim: Aim = Aim.BEYOND) -> Hostile:
    """A program that writes a frame of its own where the worker's answer belongs, and ends."""
    return strike(name, aim, (PROTOCOL,), f"""
payload = {payload}
tool("os").write(4, len(payload).to_bytes(4, "little") + payload)
tool("os")._exit(0)
""")  # fmt: skip


FRAMES = (
    strike("frame_garbage", Aim.BEYOND, (PROTOCOL,), "os = tool('os'); os.write(4, b'\\xff' * 4000); os._exit(0)"),
    strike("frame_huge", Aim.BEYOND, (PROTOCOL,), """
os = tool("os")
os.write(4, b"\\xff\\xff\\xff\\xff")
for _ in range(50): os.write(4, bytes(1 << 20))
return "swallowed"
"""),
    strike("frame_short", Aim.TIME, (HANG,), """
tool("os").write(4, b"\\x10\\0\\0\\0[")
while True: tool("os").read(3, 1)
"""),
    strike("frame_two", Aim.BEYOND, (PROTOCOL,), """
honest = bytes.fromhex(t["honest"])
tool("os").write(4, honest + honest)
tool("os")._exit(0)
"""),
    strike("frame_early", Aim.BEYOND, (None, PROTOCOL), """
tool("os").write(4, bytes.fromhex(t["honest"]))
sum(range(1_000_000))
return "late"
""", turns=4),
    Hostile(name="frame_load", aim=Aim.BEYOND, kinds=(PROTOCOL, HANG), source=f"""{TOOLS}
tool("os").write(4, b'\\x0a\\0\\0\\0["","",[]]')
tool("os").read(3, 4000)
{STRIKE}        pass
"""),
    *(
        forged(f"frame_{name}", f"b'[\"\",\"\",[' + {steps} + b']]'")
        for name, steps in {
            "reward": "b'[0,\"x\",1e9,true,false,{}]'",
            "infinite": "b'[0,\"x\",1e999,true,false,{}]'",
            "nan": "b'[0,\"x\",NaN,true,false,{}]'",
            "other": "b'[7,\"x\",1.0,true,false,{}]'",
            "more": "b'[0,\"x\",1.0,true,false,{}],[1,\"x\",1.0,true,false,{}]'",
            "none": "b''",
            "types": "b'[0,\"x\",\"1.0\",1,null,{}]'",
            "info": "b'[0,\"x\",1.0,true,false,{\"a\":\"' + b'x' * 30_000 + b'\"}]'",
            "list": "b'[0,\"x\",1.0,true,false,[1]]'",
            "deep": "b'[0,\"x\",1.0,true,false,{\"a\":' + b'[' * 2000 + b']' * 2000 + b'}]'",
            "nested": "b'[0,\"x\",1.0,true,false,{\"a\":' + b'[' * 500 + b']' * 500 + b'}]'",
            "surrogate": "b'[0,\"\\\\ud800\",1.0,true,false,{}]'",
        }.items()
    ),
    forged("frame_pickle", (
        "b'\\x80\\x04cposix\\nmkdir\\n(V' + t['folder'].encode() + b'/pickled\\ntR.'"
    ), Aim.FILE),
    *(
        forged(f"blame_{kind}", f"b'[\"{kind}\",\"not me\",[]]'", Aim.BLAME)
        for kind in ("misuse", "server_died", "closed", "killed", "no such kind")
    ),
    forged("blame_step", "b'[\"\",\"\",[[0,\"x\",1.0,true,false,{},\"killed\",\"not me\"]]]'", Aim.BLAME),
)  # fmt: skip

VALUES = (
    answer("reward_nan", Aim.BEYOND, (REWARD,), "'x', float('nan'), False, False, {}"),
    answer("reward_huge", Aim.BEYOND, (REWARD,), "'x', 10**400, False, False, {}"),
    answer("surrogate", Aim.BEYOND, (OBSERVATION,), "'\\ud800', 0.0, False, False, {}"),
    answer("info_huge", Aim.BEYOND, (INFO,), "'x', 0.0, False, False, {'a': 'x' * 5_000_000}"),
    answer("info_deep", Aim.BEYOND, (INFO,), "'x', 0.0, False, False, info", """
info = {}
for _ in range(100_000): info = {"a": info}
"""),
    answer("info_nested", Aim.BEYOND, (INFO,), "'x', 0.0, False, False, {'a': info}", """
info = []
for _ in range(500): info = [info]
"""),
    answer("info_ring", Aim.BEYOND, (INFO,), "'x', 0.0, False, False, info", "info = {}\ninfo['a'] = info"),
    answer("info_bomb", Aim.BEYOND, (INFO, TIMEOUT, MEMORY, HANG, ErrorKind.CRASH), "'x', 0.0, False, False, info", """
info = {"a": 1}
for _ in range(40): info = {"a": [info, info]}
"""),
    answer("pickle", Aim.FILE, (OBSERVATION,), "made, 0.0, False, False, {'a': made}", """
class Made:
    def __reduce__(self): return tool("os").mkdir, (t["folder"] + "/reduced",)
made = Made()
"""),
    answer("evil_str", Aim.BEYOND, (OBSERVATION,), "Text('x' * 99_999), 0.0, False, False, {}", """
class Text(str):
    def __len__(self): return 1
    def isascii(self): return True
    def encode(self, *_): return b"x"
"""),
    answer("float_obj", Aim.BEYOND, (REWARD,), "'x', Number(1e300), False, False, {}", """
class Number(float):
    def __le__(self, other): return True
    __ge__ = __lt__ = __gt__ = __eq__ = __le__
    def __float__(self): return 1.0
"""),
    answer("evil_tuple", Aim.BEYOND, (CONTRACT,), "Five(('x',)),", """
class Five(tuple):
    def __len__(self): return 5
    def __iter__(self): return iter(("x", 1e300, False, False, {}))
"""),
    answer("evil_dict", Aim.BEYOND, (INFO,), "'x', 0.0, False, False, Pairs()", """
class Pairs(dict):
    def __bool__(self): return False
    def items(self): return [("a", "x" * 10**6)]
"""),
    answer("evil_key", Aim.BEYOND, (INFO, None), "'x', 0.0, False, False, {Key('a'): 1}", """
class Key(str):
    def __str__(self): return "x" * 10**6
"""),
)  # fmt: skip

RAISING = (
    strike("base_exc", Aim.TIME, (EXCEPTION,), """
class Loud(BaseException):
    def __str__(self):
        while True: pass
    __repr__ = __str__
raise Loud
"""),
    strike("exc_class", Aim.TIME, (HANG, TIMEOUT, EXCEPTION), """
class Sly(BaseException):
    @property
    def __class__(self):
        while True: pass
raise Sly
"""),
    strike("exc_meta", Aim.TIME, (HANG, TIMEOUT, EXCEPTION), """
class Meta(type):
    @property
    def __module__(cls):
        while True: pass
raise Meta("Sly", (BaseException,), {})
"""),
    strike("exc_syntax", Aim.TIME, (HANG, TIMEOUT, ErrorKind.SYNTAX), """
class Text(str):
    def __format__(self, _):
        while True: pass
error = SyntaxError()
error.msg = Text("x")
raise error
"""),
    strike("exc_name", Aim.BEYOND, (EXCEPTION,), "raise type('\\ud800' + 'x' * 10**6, (Exception,), {})('y' * 10**6)"),
    strike("exc_chain", Aim.TIME, (EXCEPTION, TIMEOUT), """
error = None
for _ in range(200_000):
    new = ValueError()
    new.__context__ = error
    error = new
raise error
"""),
)  # fmt: skip

WORKER = (
    answer("limits_patched", Aim.BEYOND, (PROTOCOL,), "'x' * 50_000, 5e9, False, False, {'a': 'x' * 50_000}", """
frame = tool("sys")._getframe()
while frame is not None:
    for part in [*frame.f_locals.values()]:
        limits = getattr(part, "limits", part)
        for name in ("obs_chars", "abs_reward", "info_bytes"):
            if hasattr(limits, name): object.__setattr__(limits, name, 10**10)
    frame = frame.f_back
"""),
    strike("worker_patched", Aim.BEYOND, (PROTOCOL,), """
modules = tool("sys").modules
for name in list(modules):
    for wanted in ("reset_answer", "step_answer"):
        if hasattr(modules[name], wanted) and name.startswith("jail"):
            setattr(modules[name], wanted, lambda number, answer, limits: (0, "x", 1e300, True, False, {}))
return "x"
""", turns=2),
    strike("clock_patched", Aim.TIME, (HANG,), """
for part in tool("gc").get_objects():
    if type(part).__name__ == "Clock": part.armed = False
for module in list(tool("sys").modules.values()):
    clock = getattr(module, "Clock", None)
    if clock is not None and hasattr(clock, "_alarm"): clock._alarm = clock.stop = lambda *_: None
    if clock is not None: module.CallTimeout = ValueError
signal = tool("signal")
signal.setitimer(signal.ITIMER_PROF, 0)
while True: pass
"""),
    strike("monkeypatch", Aim.NEXT, (None, PROTOCOL), """
import math, random, json
real = tool("random")
real.Random.random = random.Random.random = lambda self: 0.5
real.Random.getrandbits = lambda self, bits: 1
for module in (tool("json"), json): module.dumps = lambda *_: "patched"
for module in (tool("math"), math): module.sqrt = lambda _: 0.0
built = tool("builtins")
built.len, built.sorted, built.sum = (lambda _: 0), (lambda *_: []), (lambda *_: 0)
return "patched"
"""),
    strike("cross_env", Aim.NEXT, (None,), """
gc, built, count = tool("gc"), tool("builtins"), 0
for part in gc.get_objects():
    if type(part).__name__ == "PeerEnv": part.count, count = 10**6, count + 1
for name in list(tool("sys").modules):
    if name == "environment": tool("sys").modules[name].__dict__.clear()
return f"{count} neighbours"
"""),
    strike("print_flood", Aim.TIME, (None, TIMEOUT, *FORBIDDEN), """
say = tool("builtins").print
for _ in range(50): print("x" * 1_000_000); say("x" * 1_000_000)
return "said"
"""),
    strike("write_flood", Aim.TIME, FORBIDDEN, "while True: tool('os').write(2, bytes(1 << 20))"),
)  # fmt: skip
"""`limits_patched` and `worker_patched` switch off every check on their own side; the host's must hold alone."""

ANSWERING = (*FRAMES, *VALUES, *RAISING, *WORKER)
