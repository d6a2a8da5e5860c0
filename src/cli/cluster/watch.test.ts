import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { watchFiles } from './watch.ts'

test('files that are written, replaced, removed or new in a watched folder are noticed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-watch-'))
  const at = (name: string) => join(folder, name)
  writeFileSync(at('app.py'), '1')
  const news = new EventEmitter()
  const watching = watchFiles(
    () => news.emit('changed'),
    (line) => news.emit('error', new Error(line)),
  )
  t.after(() => {
    watching.close()
    rmSync(folder, { recursive: true, force: true })
  })
  watching.renew([at('app.py')])
  // Its watchers do not keep a process alive.
  const alive = setInterval(() => {}, 1_000)
  t.after(() => clearInterval(alive))
  const noticed = async (edit: () => void) => {
    const changed = once(news, 'changed')
    edit()
    await changed
  }
  await noticed(() => writeFileSync(at('app.py'), '2'))
  await noticed(() => {
    writeFileSync(at('.app.py.swp'), '3')
    renameSync(at('.app.py.swp'), at('app.py'))
  })
  await noticed(() => rmSync(at('app.py')))
  await noticed(() => writeFileSync(at('new.ts'), ''))
  watching.renew([at('new.ts')])
  await noticed(() => writeFileSync(at('new.ts'), '1'))
  assert.equal(news.listenerCount('changed'), 0)
})
