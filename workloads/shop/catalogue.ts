/** The shop's database: 5,000 products, the same in every new shop, and the orders placed so far. */

import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const things = {
  kitchen: ['kettle', 'pan', 'mug', 'teapot', 'ladle'],
  garden: ['spade', 'lantern', 'bench', 'trellis', 'bucket'],
  office: ['lamp', 'clock', 'shelf', 'stool', 'tray'],
  sport: ['paddle', 'racket', 'hoop', 'helmet', 'sled'],
  music: ['drum', 'flute', 'fiddle', 'whistle', 'banjo'],
}
const materials = 'oak steel brass copper bamboo glass maple slate willow iron'.split(' ')
const looks = (
  'Amber Azure Bright Classic Curved Dark Folding Golden Grand Ivory ' +
  'Little Modern Nordic Plain Polished Quiet Round Rustic Slim Sturdy'
).split(' ')

export const categories = [
  'kitchen',
  'garden',
  'office',
  'sport',
  'music',
] as const satisfies (keyof typeof things)[]

/** Every category has the same number of things. */
export const productCount = categories.length * things.kitchen.length * materials.length * looks.length

const lowestPriceCents = 299
export const highestPriceCents = 20_299

const schema = `
  CREATE TABLE products (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    category TEXT NOT NULL,
    priceCents INTEGER NOT NULL,
    stock INTEGER NOT NULL CHECK (stock >= 0)
  ) STRICT;
  CREATE INDEX productsByCategory ON products (category, priceCents);
  CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    job TEXT NOT NULL UNIQUE,
    productId INTEGER NOT NULL REFERENCES products,
    quantity INTEGER NOT NULL,
    totalCents INTEGER NOT NULL,
    customer TEXT NOT NULL,
    placedAt TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ'))
  ) STRICT;`

/** Writes take milliseconds, so a longer wait indicates a fault. */
const busyMs = 10_000

const opened = new Map<string, DatabaseSync>()

/** Opens the shop in this folder, creating it if needed. Each process keeps one connection. */
export function openShop(dataDir: string): DatabaseSync {
  const file = join(dataDir, 'shop.db')
  let db = opened.get(file)
  if (!db) {
    if (!existsSync(file)) createShop(dataDir, file)
    db = new DatabaseSync(file, { timeout: busyMs })
    opened.set(file, db)
  }
  return db
}

/**
 * Several processes may do this at once. Each fills its own draft; the first to create the hard link wins, because
 * linking fails if the shop exists. No process waits for another or sees an incomplete shop.
 */
function createShop(dataDir: string, file: string): void {
  mkdirSync(dataDir, { recursive: true })
  const draft = `${file}.${randomUUID()}.draft`
  try {
    const db = new DatabaseSync(draft)
    try {
      fill(db)
      // Persistent. With a write-ahead log, readers and the writer do not block each other.
      db.exec('PRAGMA journal_mode = WAL')
    } finally {
      db.close()
    }
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    for (const end of ['', '-journal', '-wal', '-shm']) rmSync(draft + end, { force: true })
  }
}

function fill(db: DatabaseSync): void {
  db.exec(`BEGIN; ${schema}`)
  const insert = db.prepare('INSERT INTO products VALUES (?, ?, ?, ?, ?)')
  let id = 0
  for (const category of categories) {
    for (const thing of things[category]) {
      for (const material of materials) {
        for (const look of looks) {
          id++
          const priceCents = lowestPriceCents + ((id * 7919) % (highestPriceCents - lowestPriceCents))
          const stock = 1 + ((id * 37) % 100)
          insert.run(id, `${look} ${material} ${thing}`, category, priceCents, stock)
        }
      }
    }
  }
  db.exec('COMMIT')
}
