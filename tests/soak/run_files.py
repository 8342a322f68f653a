#!/usr/bin/env python3
"""Damaged and hostile run files, read by every command that reads them.

Bits, bytes and pages change as a bad disk changes them: a reader then answers what it answers of
the whole file, or says that the file is
damaged. With new checksums, and with rows and tables changed through SQL as a stranger could, a
reader must not crash and must end."""
import os
import shutil
import sqlite3
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import mutate  # noqa: E402
import programs  # noqa: E402
import seal  # noqa: E402
from attack import Attack, warpgrind  # noqa: E402

CODES = {0, 1, 2, 99, 125}
ENDLESS = ('WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) '
           'SELECT x AS id, x AS key, x AS value, x AS process FROM c')
VALUES = [None, 0, 1, -1, 2, 255, 65536, 1 << 31, 1 << 32, (1 << 63) - 1, -(1 << 63), 1e300,
          float('inf'), '', 'x', '1', '-1', 'a' * 100000, b'', b'\0' * 16, b'\xff' * 1000, 'device',
          'global', "'; --"]
SQL = ["select * from access limit 2000", "select count(*), sum(known) from contents((select "
       "max(id) from allocation))", "select w.* from access a, writer(a.record, a.lane) w where "
       "a.kind = 'load' limit 20",
       "select * from race limit 100", "select * from unwritten((select max(id) from allocation)) "
       "limit 100", "select * from thread limit 500"]
TIMEOUT = 40


def make_files(a):
    """name: path of a whole file."""
    found = {}
    for name, program, options in (('record', 'overrun', ['--record']),
                                   ('plain', 'uninitialised_sum', ['--tool=initcheck']),
                                   ('inputs', 'overrun', ['--record=inputs']),
                                   ('sort', 'merge_sort', ['--record', '--tool=memcheck',
                                       '--launch-count=2'])):
        command = programs.example(program)
        path = os.path.join(a.work, name, 'run.wg')
        os.mkdir(os.path.dirname(path))
        if command:
            a.run(warpgrind('--device=cpu', '--workers=1', '-q', '-o', path, *options, '--',
                            *command), timeout=120)
        if os.path.exists(path):
            found[name] = path
    return found


def tables_of(path):
    db = sqlite3.connect('file:%s?mode=ro' % path, uri=True)
    rows = {t: [c[1] for c in db.execute('pragma table_info(%s)' % t)] for t,
            in db.execute("select name from sqlite_schema where type = 'table' and name not like "
                          "'sqlite_%'")}
    db.close()
    return rows


def questions(tables, original):
    found = {'report': ['report', '-v', 'FILE'], 'json': ['report', '--json=OUT/report.json',
        'FILE'], 'dump': ['dump', 'FILE'], 'diff': ['diff', '--all', 'FILE', original],
             'static': ['view', '--static', 'OUT/page', 'FILE'], 'counts': ['sql', 'FILE',
                 '; '.join('select count(*) from ' + t for t in tables)]}
    for i, text in enumerate(SQL):
        found['sql%d' % i] = ['sql', 'FILE', text]
    for t in tables:
        found['all of ' + t] = ['sql', 'FILE', 'select * from ' + t]
    return found


def ask(a, question, path):
    out = a.path('out')
    shutil.rmtree(out, ignore_errors=True)
    os.mkdir(out)
    r = a.run(warpgrind(*[w.replace('FILE', path).replace('OUT', out) for w in question]),
              timeout=TIMEOUT)
    a.count('reads')
    answer = r.out
    for folder, _, files in sorted(os.walk(out)):
        for name in sorted(files):
            with open(os.path.join(folder, name), 'rb') as f:
                answer += f.read()
    return r, answer.replace(path.encode(), b'FILE')


# --- damage ---

def change_bytes(data, rng):
    """As a bad disk does. Gives the words for it, and the file."""
    how = rng.choice(['bit', 'bit', 'bit', 'page', 'cut', 'bytes'])
    b = bytearray(data)
    if how == 'bit':
        at = rng.randrange(len(b))
        b[at] ^= 1 << rng.randrange(8)
        return 'bit at %d' % at, bytes(b)
    if how == 'cut':
        n = rng.randrange(len(b))
        return 'cut at %d' % n, bytes(b[:n])
    if how == 'page':
        size = max(512, seal.page_bytes(data))
        at = rng.randrange(len(b) // size) * size
        other = rng.randrange(len(b) // size) * size
        b[at:at + size] = rng.choice([bytes(size), rng.randbytes(size),
                                      bytes(b[other:other + size])])
        return 'page at %d' % at, bytes(b)
    return 'bytes', mutate.data(data, rng, rng.choice([1, 3, 10]))


def blobs_of(db, table, columns):
    try:
        return [(r, c, v) for c in columns for r, v in db.execute("select rowid, %s from %s where "
            "typeof(%s) = 'blob' limit 50" % (c, table, c))]
    except sqlite3.Error:                  # replaced before
        return []


def change_rows(path, tables, rng):
    """As a stranger does who knows SQL. Gives the statements."""
    db = sqlite3.connect(path)
    said = []

    def run(text, *values):
        said.append(text)
        try:
            db.execute(text, values)
        except (sqlite3.Error, OverflowError):
            pass
    run('pragma writable_schema=on')
    for _ in range(rng.choice([1, 1, 2, 4])):
        table = rng.choice(sorted(tables))
        column = rng.choice(tables[table])
        some = rng.choice(['', 'where rowid %% %d = %d' % (rng.randrange(2, 5), rng.randrange(2)),
                           'where rowid = (select rowid from %s limit 1 offset %d)' % (table,
                               rng.randrange(10))])
        how = rng.random()
        if how < 0.55:
            run('update %s set %s = ? %s' % (table, column, some), rng.choice(VALUES))
        elif how < 0.65:
            run('update %s set %s = %s + %d %s' % (table, column, column,
                rng.choice([-1, 1, 1 << 20, 1 << 62]), some))
        elif how < 0.72:
            run('delete from %s %s' % (table, some))
        elif how < 0.78:
            run('insert or replace into %s select %s from %s %s' % (table, ', '.join('?1'
                if c == column else c for c in tables[table]), table, some), rng.choice(VALUES))
        elif how < 0.92:
            blobs = blobs_of(db, table, tables[table])
            if blobs:
                row, column, value = rng.choice(blobs)
                run('update %s set %s = ? where rowid = %d' % (table, column, row),
                    mutate.data(value, rng, rng.choice([1, 2, 5])))
        elif how < 0.96:
            run('drop table ' + table)
            run(rng.choice(['create view %s as %s' % (table, ENDLESS),
                            'create view %s as %s limit %d' % (table, ENDLESS, 1 << 40),
                            'create table %s as select 1 as id' % table,
                            'create table %s as %s limit 10' % (table, ENDLESS)]))
        else:
            run(rng.choice(['create trigger t after insert on meta begin delete from launch; end',
                            'create view access as ' + ENDLESS, 'create index more on %s(%s)'
                            % (table, column),
                            'pragma user_version = %d' % rng.randrange(10),
                            'pragma application_id = 1']))
    try:
        db.commit()
    except sqlite3.Error:
        pass
    db.close()
    return said


def main():
    a = Attack(__doc__)
    files = make_files(a)
    if not files:
        a.skip('no run file could be made')
    whole, answers = {}, {}
    for name, path in files.items():
        with open(path, 'rb') as f:
            whole[name] = f.read()
    tables = {name: tables_of(path) for name, path in files.items()}
    for rng in a.cases():
        name = rng.choice(sorted(files))
        asked = questions(sorted(tables[name]), files[name])
        path = a.path('run.wg')
        how = rng.choice(['disk', 'disk', 'sealed', 'sql', 'sql'])
        if how == 'sql':
            shutil.copyfile(files[name], path)
            said = '; '.join(change_rows(path, tables[name], rng))
            with open(path, 'rb') as f:
                data = seal.seal(f.read(), whole[name])
        else:
            said, data = change_bytes(whole[name], rng)
            if how == 'sealed':
                data = seal.seal(data, whole[name])
        with open(path, 'wb') as f:
            f.write(data)
        with open(a.path('change'), 'w') as f:
            f.write('%s of %s: %s\n' % (how, name, said))
        a.count(how)
        for q in rng.sample(sorted(asked), 3):
            r, answer = ask(a, asked[q], path)
            ok = a.must_hold(r, CODES, '%s of %s (%s)' % (q, name, how))
            if ok and r.code == -15:
                a.found('%s of %s (%s) takes more than %d s' % (q, name, how, TIMEOUT), r)
            if not ok or how != 'disk' or r.code not in (0, 1) or b'damaged' in r.err:
                continue
            if (name, q) not in answers:
                # of the same name: answers may have it
                answers[name, q] = ask(a, asked[q], files[name])
            if (r.code, answer) != (answers[name, q][0].code, answers[name, q][1]):
                a.found('%s of %s answers otherwise and does not say so (%s)' % (q, name, said), r)
    a.finish()


main()
