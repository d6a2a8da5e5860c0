/** Who gets in, and who sees secrets. */

import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { exchange } from '../../support/hostile/innocents.ts'
import { statusesOf, talk } from '../../support/hostile/raw.ts'
import type { Experiment } from '../../support/hostile/trial.ts'

const secrets = {
  PLIMSOLL_WORKER_TOKEN: 'worker-secret-0123456789abcdef',
  PLIMSOLL_FRONT_TOKEN: 'front-secret-0123456789abcdef',
  PLIMSOLL_OPERATOR_TOKEN: 'operator-secret-0123456789abcdef',
  DATABASE_PASSWORD: 'environment-secret-0123456789abcdef',
}

export const hiddenSecrets: Experiment = {
  name: 'secrets',
  about: 'tokens and the environment, as seen from ps, the log, files and jobs',
  async run(trial) {
    const up = await trial.start({
      env: secrets,
      flags: ['--fronts', '2', '--min', '1', '--max', '1', '--event-log', 'events.log'],
    })
    const innocents = trial.innocents(up)
    await innocents.more(20)
    const seen = await exchange(`${up.url}/surroundings`, 'GET', false)
    const files = globSync('**', { cwd: up.folder, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
    const places: Record<string, string> = {
      'the command lines': up
        .processes()
        .map(({ command }) => command)
        .join('\n'),
      'the log': up.lines.join('\n'),
      'the process of a job': seen.body,
      'the files': files
        .filter((file) => !file.includes('/tokens/'))
        .map((file) => readFileSync(file, 'latin1'))
        .join('\n'),
    }
    for (const [place, text] of Object.entries(places)) {
      for (const [name, value] of Object.entries(secrets))
        trial.check(!text.includes(value), `${place} of the cluster show ${name}`)
    }
    trial.check(!/--token \S/.test(places['the log']! + places['the command lines']!), 'a token is shown')
    trial.check(
      seen.status === 200 && !/PLIMSOLL_\w*TOKEN|DATABASE_PASSWORD/.test(seen.body),
      `a job sees names of secrets: ${seen.status} ${seen.body.slice(0, 300)}`,
    )
    const modeOf = (path: string) => statSync(path).mode & 0o777
    trial.check(modeOf(up.dataDir) === 0o700, `the data folder has mode ${modeOf(up.dataDir).toString(8)}`)
    const open = files.filter(
      (file) => file.startsWith(`${up.dataDir}/`) && (modeOf(file) & 0o077) !== 0 && !file.endsWith('/tally'),
    )
    trial.check(open.length === 0, `${open.length} files are readable by others, such as ${open[0]}`)
    await innocents.more(20)
  },
}

export const adminGuard: Experiment = {
  name: 'admin-guard',
  about: 'the admin port with foreign Host and Origin, and without a token',
  async run(trial) {
    const up = await trial.start()
    const innocents = trial.innocents(up)
    const port = Number(new URL(up.adminUrl).port)
    const ask = async (head: string, body = '') => {
      const text = await talk(
        port,
        `${head}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      )
      return { status: statusesOf(text)[0] ?? 0, text }
    }
    const own = `Host: 127.0.0.1:${port}`
    const what = '{"fronts":false,"workers":true}'
    const json = 'Content-Type: application/json'
    const refused: Record<string, [head: string, body?: string]> = {
      'foreign host': ['GET /api/state HTTP/1.1\r\nHost: evil.example'],
      'foreign host with this port': [`GET /api/state HTTP/1.1\r\nHost: evil.example:${port}`],
      'foreign origin': [`GET /api/state HTTP/1.1\r\n${own}\r\nOrigin: http://evil.example`],
      'restart without a token': [`POST /api/restart HTTP/1.1\r\n${own}\r\n${json}`, what],
      'restart with a wrong token': [
        `POST /api/restart HTTP/1.1\r\n${own}\r\n${json}\r\nAuthorization: Bearer wrong`,
        what,
      ],
      'restart from a page': [
        `POST /api/restart HTTP/1.1\r\n${own}\r\n${json}\r\nOrigin: http://evil.example`,
        what,
      ],
      'cache without a token': [`PUT /api/cache/abc HTTP/1.1\r\n${own}`, 'abc'],
      'joining without a token': [`GET /-/wire HTTP/1.1\r\n${own}\r\nUpgrade: plimsoll`],
    }
    const before = (await up.state()).workers.map(({ pid }) => pid)
    for (const [name, [head, body]] of Object.entries(refused)) {
      const { status, text } = await ask(head, body)
      trial.check(status >= 400 && status < 500, `${name}: ${status}`)
      trial.check(!text.includes('"counters"'), `${name}: the state is shown`)
    }
    const plain = await ask(`GET /api/state HTTP/1.1\r\n${own}`)
    trial.check(plain.status === 200, `the state for an operator on this machine: ${plain.status}`)
    await innocents.more(40)
    const after = (await up.state()).workers.map(({ pid }) => pid)
    trial.check(`${before}` === `${after}`, 'a restart took place')
  },
}
