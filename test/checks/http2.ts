/**
 * Runs h2spec, an independent test suite of HTTP/2, against a cluster and against a bare server of Node's http2 module. A
 * case that fails only at the cluster is Plimsoll's fault. Needs Go and its module proxy. node test/checks/http2.ts
 */

import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certificateFolder, newCertificate } from '../support/certificates.ts'
import { startLive, stopLive } from '../support/live.ts'

/** The suite and what it needs, in the versions that were tried. */
const modules = `module check

go 1.25.0

require (
	github.com/fatih/color v1.19.0
	github.com/spf13/cobra v1.10.2
	github.com/summerwind/h2spec v2.2.1+incompatible
	golang.org/x/net v0.62.0
)
`
/** Time allowed for each expected frame; a case without it takes this long. */
const frameSeconds = 3
/** Some cases depend on the order of frames that cross. One that passes once is possible. */
const tries = 3

interface Result {
  cases: number
  failed: Set<string>
}

/** Runs the suite once against a server on this machine. */
function run(program: string, port: string, folder: string): Promise<Result> {
  const report = join(folder, `${port}.xml`)
  const where = ['-h', '127.0.0.1', '-p', port, '-t', '-k', '-P', '/strict?n=21']
  return new Promise((resolve, reject) => {
    // It exits with 1 if a case fails.
    execFile(program, [...where, '-o', `${frameSeconds}`, '-j', report], (_error, output) => {
      const cases = / (\d+) tests?,|^(\d+) tests?,/m.exec(output)
      if (!cases) return reject(new Error(`h2spec did not run:\n${output}`))
      resolve({ cases: Number(cases[1] ?? cases[2]), failed: failedIn(readFileSync(report, 'utf8')) })
    })
  })
}

function failedIn(report: string): Set<string> {
  const found = report.matchAll(/<testcase package="([^"]*)" classname="([^"]*)"[^>]*>\s*<(?:failure|error)/g)
  return new Set([...found].map(([, section, name]) => `${section}: ${name}`))
}

/** The cases that fail in every try. */
async function failures(program: string, port: string, folder: string): Promise<Result> {
  const first = await run(program, port, folder)
  let { failed } = first
  for (let i = 1; i < tries && failed.size > 0; i++) {
    const again = await run(program, port, folder)
    failed = failed.intersection(again.failed)
  }
  return { cases: first.cases, failed }
}

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-h2spec-'))
const certificate = newCertificate('localhost')
const bare = createSecureServer({ ...certificate, allowHTTP1: true }, (_request, response) => {
  response.end('42')
})
try {
  const program = join(folder, 'h2spec')
  writeFileSync(join(folder, 'go.mod'), modules)
  const source = 'github.com/summerwind/h2spec/cmd/h2spec'
  execFileSync('go', ['build', '-mod=mod', '-o', program, source], { cwd: folder, stdio: 'inherit' })
  await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve))
  const node = await failures(program, `${(bare.address() as AddressInfo).port}`, folder)
  const live = await startLive({ queue: 1000, frontLimits: { tls: certificateFolder(certificate).files } })
  const ours = await failures(program, new URL(live.url).port, folder)
  await stopLive(live)
  const more = [...ours.failed.difference(node.failed)]
  console.log(`h2spec: ${ours.cases} cases; ${ours.failed.size} fail, ${node.failed.size} at a bare server`)
  for (const name of more) console.log(`  only here: ${name}`)
  process.exitCode = more.length === 0 && ours.cases > 100 ? 0 : 1
} finally {
  bare.close()
  rmSync(folder, { recursive: true, force: true })
}
