-- A keychain's file of version 4 as version 2 wrote it: without former secrets and the entries that
-- tell of classes, and with indexes instead of the rows' own lists.
BEGIN;
DROP TABLE former;
ALTER TABLE item RENAME TO newer;
CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    identifier BLOB NOT NULL UNIQUE,
    class INTEGER NOT NULL,
    accessible INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    keyIndex BLOB NOT NULL UNIQUE,
    attributes BLOB NOT NULL,
    secret BLOB
) STRICT;
INSERT INTO item SELECT id, identifier, class, accessible, generation, keyIndex, attributes, secret
    FROM newer;
DROP TABLE newer;
CREATE INDEX itemByClass ON item (class, accessible);
DELETE FROM token WHERE token BETWEEN 0 AND 65535;
CREATE INDEX tokenByItem ON token (item);
PRAGMA user_version = 2;
COMMIT;
