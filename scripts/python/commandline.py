"""What btgen has read of a command line, as it passes it on: BTGEN [--NAME[=VALUE]]... -- [OPERAND]...

btgen has checked names and values: its tables of options are what --help prints.
"""
import json
import subprocess


class Words:
    def __init__(self, argv):
        self.btgen = argv[1]
        end = argv.index("--", 2)
        self.options, self.operands = argv[2:end], argv[end + 1:]

    def all(self, name):
        """The values of an option that can be given several times."""
        return [word[len(name) + 3:] for word in self.options if word.startswith("--%s=" % name)]

    def value(self, name):
        return (self.all(name) or [None])[-1]

    def has(self, name):
        return "--" + name in self.options

    def these(self, *names):
        """Those of the options, to be passed on."""
        return [word for word in self.options if word[2:].split("=", 1)[0] in names]

    def ask(self, *words):
        """Runs btgen with @words: its exit status, what it prints, and what it reports, as bytes."""
        done = subprocess.run([self.btgen, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return done.returncode, done.stdout, done.stderr

    def facts(self, *words):
        """What `btgen run --facts` knows."""
        return json.loads(self.ask("run", *words)[1].decode())


def raw(value):
    """The bytes of a text in btgen's JSON."""
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) else value.encode()


def text(value):
    return raw(value).decode("utf-8", "surrogateescape")
