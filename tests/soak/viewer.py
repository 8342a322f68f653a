#!/usr/bin/env python3
"""The viewer under random and malformed HTTP requests: good questions with odd parameters, broken
requests, wrong hosts and origins, no token or a wrong one, idle and slow connections.

After each round a good question must be answered, and SIGTERM must end the server. Who does not
know the token, or comes from another page, gets nothing."""
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import programs  # noqa: E402
from attack import ROOT, SLOW, Attack, kill_group, warpgrind  # noqa: E402

VALUES = ['0', '1', '2', '3', '7', '31', '32', '100', '4096', '-1', '4294967295', '4294967296',
          '18446744073709551615', '18446744073709551616', '1e9', '0x0', '0x10000',
          '0xffffffffffffffff',
          '', 'a', '%00', '%ff', '%', '%2', '..', '../../etc/passwd', '/etc/passwd', "1'--",
          '1;DROP TABLE launch', 'f32', 'u8', 's64', 'f16', '1 2', 'nan']
EXPRESSIONS = ['1/0', '1<<64', '-9223372036854775808/-1', 'sqrt(-1)', '((((((((1))))))))',
               'f32(0x7f800000)-f32(0x7f800000)', '9' * 400, '(' * 400, 'rsqrt(0)', '1%0', 'x', '"']


def endpoints():
    with open(os.path.join(ROOT, 'src/view/endpoints.def')) as f:
        return re.findall(r'^ENDPOINT\((\w+), *"([^"]*)"', f.read(), re.M)


class Server:
    def __init__(self, path):
        self.process = subprocess.Popen(warpgrind('view', '--no-browser', path),
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        start_new_session=True)
        self.said = b''
        deadline = time.monotonic() + 30 * SLOW
        while b'http://' not in self.said or b'\n' not in self.said.split(b'http://', 1)[1]:
            if time.monotonic() > deadline or not select.select([self.process.stdout], [], [],
                1)[0]:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise OSError('the server does not start: %r' % self.said)
                continue
            piece = os.read(self.process.stdout.fileno(), 65536)
            if not piece:
                raise OSError('the server does not start: %r' % self.said)
            self.said += piece
        m = re.search(rb'http://127\.0\.0\.1:(\d+)/(\S*)', self.said)
        self.port = int(m.group(1))
        token = re.search(rb'[0-9A-Za-z_-]{16,}', m.group(2))
        self.token = token.group(0).decode() if token else None
        self.tail = m.group(2).decode()            # with the token where the address has it

    def target(self, path, query='', token=True):
        """The request's target: the path, the query and the token as the address of the page has
        it."""
        if not self.token or not token:
            return '/' + path + ('?' + query if query else '')
        word = self.token if token is True else token
        before, _, after = self.tail.replace(self.token, word).partition('?')
        both = '&'.join(q for q in (query, after) if q)
        return '/' + before + path + ('?' + both if both else '')

    def ask(self, data, patience=20, slowly=0):
        """Sends bytes; gives what comes back: status (None: no HTTP), headers, body."""
        try:
            with socket.create_connection(('127.0.0.1', self.port), timeout=patience * SLOW) as s:
                for at in range(0, len(data), slowly or len(data) or 1):
                    s.sendall(data[at:at + (slowly or len(data))])
                    if slowly:
                        time.sleep(0.002)
                return read_answer(s)
        except (ConnectionError, BrokenPipeError):
            return None, b'', b''

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15 * SLOW)
            return True
        except subprocess.TimeoutExpired:
            return False
        finally:
            kill_group(self.process.pid, signal.SIGKILL)
            self.said += self.process.stdout.read() or b''
            self.process.stdout.close()


def read_answer(s):
    data = b''
    while b'\r\n\r\n' not in data:
        piece = s.recv(65536)
        if not piece:
            return None, data, b''
        data += piece
    head, _, body = data.partition(b'\r\n\r\n')
    m = re.search(rb'(?i)content-length: (\d+)', head)
    want = int(m.group(1)) if m else 0
    while len(body) < want:
        piece = s.recv(65536)
        if not piece:
            break
        body += piece
    status = re.match(rb'HTTP/1\.[01] (\d+)', head)
    return int(status.group(1)) if status else None, head, body


def good(server, path, query='', headers='', token=True, host=None, method='GET'):
    target = server.target(path, query, token)
    return ('%s %s HTTP/1.1\r\nHost: %s\r\n%sConnection: close\r\n\r\n' % (method, target, host
        or '127.0.0.1:%d' % server.port, headers)).encode()


def odd_query(rng, parameters):
    names = parameters.split() + ([] if rng.random() < 0.8 else ['other', 'launch', 'id'])
    pairs = []
    for name in names:
        if rng.random() < 0.85:
            value = str(rng.randrange(40)) if rng.random() < 0.6 else rng.choice(VALUES)
            if name == 'expression':
                value = rng.choice(EXPRESSIONS)
            if name == 'address' and rng.random() < 0.7:
                value = '0x%x' % rng.getrandbits(rng.choice([16, 48, 64]))
            pairs.append('%s=%s' % (name, value.replace(' ', '%20').replace('"', '%22')))
    if rng.random() < 0.05:
        pairs += ['a%d=1' % i for i in range(rng.choice([20, 200]))]
    if rng.random() < 0.05:
        pairs.append('most=' + '9' * rng.choice([600, 5000]))
    return '&'.join(pairs)


def broken(rng, server):
    """A request that is not one."""
    base = good(server, 'api/run')
    how = rng.randrange(10)
    if how == 0:
        return rng.randbytes(rng.choice([1, 10, 100, 5000]))
    if how == 1:
        return base[:rng.randrange(len(base))] + b'\r\n\r\n'
    if how == 2:
        return base.replace(b'\r\n', rng.choice([b'\n', b'\r', b'\0\r\n', b'\r\n ']))
    if how == 3:
        return base.replace(b'Connection', b'X: ' + b'a' * rng.choice([1000, 40000, 200000])
                            + b'\r\nConnection')
    if how == 4:
        return base.replace(b'Connection', b''.join(b'X%d: y\r\n' % i
            for i in range(rng.choice([100, 3000]))) + b'Connection')
    if how == 5:
        return base.replace(b'HTTP/1.1', rng.choice([b'HTTP/0.9', b'HTTP/2.0', b'HTTP/1.', b'',
            b'HTTP/99999999999.1']))
    if how == 6:
        lies = [b'Content-Length: -1', b'Content-Length: 99999999999999999999',
                b'Transfer-Encoding: chunked\r\nContent-Length: 5', b'Transfer-Encoding: chunked']
        return (base.replace(b'Connection: close', rng.choice(lies))
                + b'fffffffffffffffff\r\nabc\r\n0\r\n\r\n')
    if how == 7:
        return base.replace(b'GET /', b'GET ' + rng.choice([b'http://example.com/', b'//', b'/../',
            b'*', b'/%2e%2e/%2e%2e/', b'/' + b'a' * 9000]))
    b = bytearray(base)
    for _ in range(rng.randrange(1, 8)):
        b[rng.randrange(len(b))] = rng.randrange(256)
    return bytes(b)


def one_request(a, server, rng, questions):
    """Sends one; says what is wrong with the answer, or None."""
    how = rng.random()
    if how < 0.5:
        name, parameters = rng.choice(questions)
        status, head, body = server.ask(good(server, 'api/' + name, odd_query(rng, parameters)))
        if status is None:
            return 'no answer to api/%s' % name
        if b'application/json' in head:
            try:
                json.loads(body)
            except ValueError as e:
                return 'api/%s answers with broken JSON: %s' % (name, e)
        return None if status in (200, 400, 404, 413, 414, 431,
                                  500) else 'api/%s answers with status %d' % (name, status)
    if how < 0.75:
        try:
            server.ask(broken(rng, server), patience=0.3, slowly=rng.choice([0, 0, 0, 50]))
        except TimeoutError:
            pass                           # it waits for the rest
        return None
    name = rng.choice(questions)[0]
    if how < 0.85:
        stranger = rng.choice([dict(host='example.com'), dict(host='127.0.0.1'),
                               dict(headers='Origin: http://example.com\r\n'),
                               dict(headers='Origin: null\r\n'),
                               dict(headers='Sec-Fetch-Site: cross-site\r\n'), dict(method='POST'),
                               dict(method='OPTIONS')])
        status, head, body = server.ask(good(server, 'api/' + name, **stranger))
        what = 'a stranger (%s)' % ', '.join('%s %s' % (k, v.strip()) for k, v in stranger.items())
    else:
        if not server.token:
            return None
        token = rng.choice([False, 'x' * len(server.token), server.token[:-1],
                            server.token.swapcase(), server.token[:-1]
                            + ('0' if server.token[-1] != '0' else '1')])
        status, head, body = server.ask(good(server, rng.choice(['api/' + name, 'api/progress', '',
            'index.html', 'api/source']), token=token))
        what = 'a request with the token %s' % token
    a.count('requests of strangers')
    if status is not None and status < 400:
        return '%s gets status %d from api/%s' % (what, status, name)
    if len(body) > 400 or (server.token and server.token.encode() in head + body):
        return '%s gets %r' % (what, (head + body)[:300])
    return None


def is_well(server):
    try:
        status, _, body = server.ask(good(server, 'api/run'), patience=20)
    except OSError as e:
        return 'a good request is not answered: %s' % e
    return None if status == 200 and json.loads(body) else 'a good request gets status %s' % status


def idle_connections(server, rng):
    """Connections that stay open: idle, or with half a request."""
    found = []
    for _ in range(rng.choice([0, 0, 5, 30, 80])):
        try:
            s = socket.create_connection(('127.0.0.1', server.port), timeout=2)
            if rng.random() < 0.5:
                s.sendall(good(server, 'api/run')[:rng.randrange(1, 30)])
            found.append(s)
        except OSError:
            break
    return found


def one_round(a, server, rng, questions):
    wrong, held = None, idle_connections(server, rng)
    a.count('idle connections', len(held))
    for _ in range(rng.choice([10, 30, 60])):
        try:
            wrong = one_request(a, server, rng, questions)
        except OSError as e:
            wrong = 'no answer: %s' % e
        a.count('requests')
        if wrong or server.process.poll() is not None:
            break
    wrong = wrong or is_well(server)
    for s in held:
        s.close()
    return wrong


def main():
    a = Attack(__doc__)
    program = programs.example('merge_sort') or programs.example('overrun')
    if not program:
        a.skip('no example could be built')
    path = os.path.join(a.work, 'run.wg')
    a.run(warpgrind('--device=cpu', '--record', '-o', path, '--tool=memcheck', '--', *program),
          timeout=120)
    questions = endpoints()
    for rng in a.cases():
        try:
            server = Server(path)
        except OSError as e:
            a.found(str(e))
            break
        a.groups.append(server.process.pid)
        wrong = one_round(a, server, rng, questions)
        code = server.process.poll()
        ended = server.end()
        a.groups.remove(server.process.pid)
        with open(a.path('server'), 'wb') as f:
            f.write(server.said)
        if code is not None:
            a.found('the server ended with %d: %r' % (code, server.said[-200:]))
        elif wrong:
            a.found(wrong)
        elif not ended:
            a.found('the server does not end at SIGTERM')
        elif any(w in server.said for w in (b'Sanitizer', b'runtime error', b'internal error')):
            a.found('the server says %r' % server.said[-300:])
    a.finish()


main()
