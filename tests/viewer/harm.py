# Makes texts of a run file HTML that would run a script: harm.py FROM TO [all]. all: every column
# of text, but those that say what kind of thing a row is.
import shutil, sqlite3, sys

shutil.copy(sys.argv[1], sys.argv[2])
d = sqlite3.connect(sys.argv[2])
evil = "<img src=x onerror=\"window.harmed=1\"><script>window.harmed=1</script>"
kinds = {"kind", "severity", "space", "scalar", "hash", "proof", "real", "device", "what", "class",
         "mode", "key", "type"}
if len(sys.argv) > 3:
    for table, in d.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE "
                            "'CREATE VIRTUAL%' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE "
                            "'trace%'").fetchall():
        for _, column, kind, _, _, primary in d.execute("PRAGMA table_info(%s)" % table).fetchall():
            if kind != "TEXT" or primary or column in kinds or table in ("meta", "seal"): continue
            d.execute("UPDATE %s SET %s = ? || %s WHERE %s IS NOT NULL" % (table, column, column,
                      column), (evil,))
    d.execute("UPDATE meta SET value = ? WHERE key = 'program'", (evil,))
else:
    d.execute("UPDATE kernel SET readable = ? || name || '(int*)', name = ? || name", (evil, evil))
    d.execute("UPDATE allocation SET name = ?, pointer = ?", (evil, evil))
    d.execute("UPDATE place SET file = ?, function = ?", (evil, evil))
    d.execute("UPDATE frame SET function = ?, file = ?", (evil, evil))
    d.execute("UPDATE meta SET value = ? WHERE key = 'program'", (evil,))
    d.execute("UPDATE step SET call = ?, direction = ? WHERE kind <> 'launch'", (evil, evil))
    d.execute("UPDATE type SET name = ?", (evil,))
    d.execute("UPDATE type_part SET path = ?, points_to = ?", (evil, evil))
    d.execute("UPDATE buffer_type SET name = ?, why = ?, dims = ?", (evil, evil, evil))
    d.execute("UPDATE parameter_type SET name = ?", (evil,))
    d.execute("UPDATE kernel_variable SET name = ?, object = ?, why = ?, dims = ?", (evil,) * 4)
    d.execute("UPDATE source_file SET path = ? || path", (evil,))
    d.execute("UPDATE source_text SET path = ? || path WHERE rowid = 1", (evil,))
d.execute("INSERT INTO finding(id, process, kind, severity, text, launch, count, suppressed) "
          "SELECT 900000, 1, ?, 'error', ?, number, 1, 0 FROM launch LIMIT 1", (evil, evil))
d.commit()
