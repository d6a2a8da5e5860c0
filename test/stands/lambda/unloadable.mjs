/** A handler whose module fails while Lambda initialises it. */

throw new Error('the database is not reachable')
