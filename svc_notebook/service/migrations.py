"""The schema of the service's database, as migrations from each version to the next."""

from __future__ import annotations

# Adds the outcomes of events: one row for each clicked or converted object of a search. The revenue
# of an object without a price is its share of the event's value.
_ADD_OUTCOMES = """
    INSERT INTO outcomes
    SELECT e.number,
        coalesce(json_extract(e.text, '$.objectData[' || o.key || '].queryID'),
                 json_extract(e.text, '$.queryID')) AS query_id,
        coalesce(json_extract(e.text, '$.eventSubtype'), e.kind), o.value,
        json_extract(e.text, '$.positions[' || o.key || ']'),
        upper(json_extract(e.text, '$.currency')),
        coalesce(
            CAST(json_extract(e.text, '$.objectData[' || o.key || '].price') AS REAL)
            * coalesce(json_extract(e.text, '$.objectData[' || o.key || '].quantity'), 1),
            CAST(json_extract(e.text, '$.value') AS REAL) / e.objects)
    FROM (
        SELECT number, kind, CAST(body AS TEXT) AS text,
            coalesce(json_array_length(CAST(body AS TEXT), '$.objectIDs'), 1) AS objects
        FROM events
    ) AS e, json_each(coalesce(json_extract(e.text, '$.objectIDs'), '[null]')) AS o
    WHERE e.kind <> 'view' AND query_id IS NOT NULL
"""
# Sets the sums of a counted search; a view or a click without a position counts for nothing. The
# closing parenthesis follows, after further conditions.
_SUM_OUTCOMES = """
    (clicks, positions, conversions, additions, purchases) = (
        SELECT coalesce(sum(o.kind = 'click' AND o.position IS NOT NULL), 0),
            coalesce(sum(CASE o.kind WHEN 'click' THEN o.position END), 0),
            count(DISTINCT CASE WHEN o.kind <> 'click' THEN o.event END),
            count(DISTINCT CASE o.kind WHEN 'addToCart' THEN o.event END),
            count(DISTINCT CASE o.kind WHEN 'purchase' THEN o.event END)
        FROM outcomes AS o WHERE o.query_id = counted.query_id"""
# One migration per version; a released migration is never changed.
MIGRATIONS = (
    """
    CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE indices (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        settings BLOB NOT NULL,
        created TEXT NOT NULL,
        updated TEXT NOT NULL,
        stamp INTEGER NOT NULL
    );
    CREATE TABLE tasks (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        index_name TEXT NOT NULL,
        kind TEXT NOT NULL,
        body BLOB NOT NULL
    );
    CREATE TABLE keys (
        value TEXT NOT NULL,
        index_name TEXT NOT NULL DEFAULT '',
        fields BLOB NOT NULL,
        created INTEGER NOT NULL,
        ends REAL,
        deleted INTEGER,
        PRIMARY KEY (value, index_name)
    ) WITHOUT ROWID;
    CREATE TABLE entries (
        owner INTEGER NOT NULL,
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (owner, kind, id)
    ) WITHOUT ROWID;
    CREATE TABLE sources (source TEXT PRIMARY KEY, description TEXT) WITHOUT ROWID;
    CREATE TABLE logs (number INTEGER PRIMARY KEY, time REAL NOT NULL, entry BLOB NOT NULL);
    """,
    """
    ALTER TABLE indices ADD COLUMN leader INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE indices ADD COLUMN virtual INTEGER NOT NULL DEFAULT 0;
    """,
    # Record tables have a stamp, which earlier versions cannot write: `records.add_stamps`.
    "",
    """
    CREATE TABLE crawlers (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        created TEXT NOT NULL,
        updated TEXT NOT NULL,
        running INTEGER NOT NULL DEFAULT 0,
        version INTEGER NOT NULL DEFAULT 0,
        due REAL,
        began TEXT,
        ended TEXT,
        blocking_task TEXT,
        blocking_error TEXT
    );
    CREATE TABLE crawler_versions (
        crawler INTEGER NOT NULL,
        version INTEGER NOT NULL,
        config BLOB NOT NULL,
        created TEXT NOT NULL,
        PRIMARY KEY (crawler, version)
    ) WITHOUT ROWID;
    CREATE TABLE crawler_tasks (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        crawler INTEGER NOT NULL,
        kind TEXT NOT NULL,
        time REAL NOT NULL,
        state TEXT NOT NULL,
        urls BLOB,
        writes INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX crawler_tasks_recent ON crawler_tasks (crawler, kind, time);
    CREATE TABLE crawls (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        crawler INTEGER NOT NULL,
        task TEXT NOT NULL,
        config BLOB NOT NULL,
        state TEXT NOT NULL,
        pages INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE crawl_urls (
        place INTEGER PRIMARY KEY,
        crawl INTEGER NOT NULL,
        url TEXT NOT NULL,
        depth INTEGER NOT NULL,
        kind TEXT NOT NULL,
        seed INTEGER NOT NULL,
        status TEXT,
        category TEXT,
        reason TEXT,
        readable TEXT,
        given BLOB,
        remembered BLOB,
        UNIQUE (crawl, url)
    );
    CREATE INDEX crawl_urls_waiting ON crawl_urls (crawl, depth, place) WHERE status IS NULL;
    """,
    """
    CREATE TABLE events (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        time INTEGER NOT NULL,
        index_name TEXT NOT NULL,
        kind TEXT NOT NULL,
        token TEXT NOT NULL,
        known TEXT,
        digest BLOB UNIQUE,
        body BLOB NOT NULL
    );
    CREATE INDEX events_of_index ON events (index_name, number);
    CREATE INDEX events_of_token ON events (token, number);
    CREATE INDEX events_of_known ON events (known, number) WHERE known IS NOT NULL;
    CREATE INDEX events_by_time ON events (time);
    CREATE TABLE shown (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        query TEXT NOT NULL UNIQUE,
        time INTEGER NOT NULL,
        index_name TEXT NOT NULL,
        token TEXT NOT NULL,
        body BLOB NOT NULL
    );
    CREATE INDEX shown_of_index ON shown (index_name, number);
    CREATE INDEX shown_of_token ON shown (token, number) WHERE token <> '';
    CREATE INDEX shown_by_time ON shown (time);
    CREATE TABLE forgotten (token TEXT NOT NULL, time INTEGER NOT NULL, last INTEGER NOT NULL);
    """,
    "ALTER TABLE crawl_urls ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;",
    # More facts of each URL: the place of the URL that linked to it, and the time of its visit.
    """
    ALTER TABLE crawls ADD COLUMN warning TEXT;
    ALTER TABLE crawl_urls ADD COLUMN referrer INTEGER;
    ALTER TABLE crawl_urls ADD COLUMN ended REAL;
    """,
    # Counted searches; `objects` are numbers of `counted_objects`, four bytes each.
    f"""
    ALTER TABLE shown ADD COLUMN thinned INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX shown_not_thinned ON shown (time) WHERE thinned = 0;
    CREATE TABLE counted (
        number INTEGER PRIMARY KEY,
        time INTEGER NOT NULL,
        index_name TEXT NOT NULL,
        query TEXT NOT NULL,
        hits INTEGER NOT NULL,
        user TEXT NOT NULL,
        superseded INTEGER NOT NULL DEFAULT 0,
        query_id TEXT,
        filters TEXT,
        tags TEXT,
        country TEXT,
        objects BLOB,
        test INTEGER,
        variant INTEGER
    );
    CREATE INDEX counted_of_index ON counted (index_name, time);
    CREATE INDEX counted_of_query_id ON counted (query_id) WHERE query_id IS NOT NULL;
    CREATE INDEX counted_superseded ON counted (time) WHERE superseded = 1;
    CREATE TABLE counted_objects (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
    CREATE TABLE outcomes (
        event INTEGER NOT NULL,
        query_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        object TEXT,
        position INTEGER,
        currency TEXT,
        revenue REAL
    );
    CREATE INDEX outcomes_of_query_id ON outcomes (query_id);
    CREATE INDEX outcomes_of_event ON outcomes (event);
    {_ADD_OUTCOMES};
    CREATE TRIGGER events_add_outcomes AFTER INSERT ON events BEGIN
        {_ADD_OUTCOMES} AND e.number = new.number;
        UPDATE counted SET superseded = 0 WHERE superseded = 1
            AND query_id IN (SELECT query_id FROM outcomes WHERE event = new.number);
    END;
    CREATE TRIGGER events_delete_outcomes AFTER DELETE ON events BEGIN
        DELETE FROM outcomes WHERE event = old.number;
    END;
    """,
    # The configurations of query suggestions; `due` is the time of their next build.
    """
    CREATE TABLE suggestions (
        index_name TEXT PRIMARY KEY,
        config BLOB NOT NULL,
        due INTEGER NOT NULL,
        started INTEGER,
        ended INTEGER,
        succeeded INTEGER,
        duration INTEGER,
        log BLOB
    ) WITHOUT ROWID;
    """,
    # A/B tests; `control` is the index whose searches are divided, times are in milliseconds.
    """
    CREATE TABLE ab_tests (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        control TEXT NOT NULL,
        name TEXT NOT NULL,
        created INTEGER NOT NULL,
        ends INTEGER NOT NULL,
        stopped INTEGER,
        variants BLOB NOT NULL,
        configuration BLOB NOT NULL
    );
    CREATE INDEX counted_of_test ON counted (test) WHERE test IS NOT NULL;
    """,
    # The sums of the outcomes of each counted search, so that figures need no join.
    f"""
    ALTER TABLE counted ADD COLUMN clicks INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE counted ADD COLUMN positions INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE counted ADD COLUMN conversions INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE counted ADD COLUMN additions INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE counted ADD COLUMN purchases INTEGER NOT NULL DEFAULT 0;
    UPDATE counted SET {_SUM_OUTCOMES}) WHERE query_id IN (SELECT query_id FROM outcomes);
    CREATE INDEX counted_by_time ON counted (time);
    DROP TRIGGER events_add_outcomes;
    CREATE TRIGGER events_add_outcomes AFTER INSERT ON events BEGIN
        {_ADD_OUTCOMES} AND e.number = new.number;
        UPDATE counted SET superseded = 0, {_SUM_OUTCOMES})
            WHERE query_id IN (SELECT query_id FROM outcomes WHERE event = new.number);
    END;
    DROP TRIGGER events_delete_outcomes;
    CREATE TRIGGER events_delete_outcomes AFTER DELETE ON events BEGIN
        UPDATE counted SET {_SUM_OUTCOMES} AND o.event <> old.number)
            WHERE query_id IN (SELECT query_id FROM outcomes WHERE event = old.number);
        DELETE FROM outcomes WHERE event = old.number;
    END;
    CREATE TRIGGER counted_add_outcomes AFTER INSERT ON counted
        WHEN EXISTS (SELECT 1 FROM outcomes WHERE query_id = new.query_id)
    BEGIN
        UPDATE counted SET {_SUM_OUTCOMES}) WHERE number = new.number;
    END;
    """,
)
