/**
 * Loaded first in every process and thread of Plimsoll that is profiled (`--import`). On SIGUSR2 each of them writes the
 * CPU profile since its start or since the last signal into the folder named in the address of this module.
 */
import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { BroadcastChannel, isMainThread, threadId, threadName } from 'node:worker_threads'

const { searchParams } = new URL(import.meta.url)
const [folder, except] = [searchParams.get('folder'), searchParams.get('except')]
const sampleUs = 1000

function profile() {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.setSamplingInterval', { interval: sampleUs })
  session.post('Profiler.start')
  let written = 0
  return () =>
    session.post('Profiler.stop', (error, result) => {
      if (error) return
      const name = `${process.pid}.${threadName || threadId}.${written++}.cpuprofile`
      writeFileSync(`${folder}/${name}`, JSON.stringify(result.profile))
      session.post('Profiler.start')
    })
}

if (process.argv[1] !== except) {
  const write = profile()
  const channel = new BroadcastChannel('profiler')
  channel.unref()
  if (isMainThread) {
    process.on('SIGUSR2', () => {
      channel.postMessage('write')
      write()
    })
  } else {
    channel.onmessage = write
  }
}
