import { defineWorkload } from 'plimsoll/workload'

/** Burns a given amount of CPU time: the same work however often it is paused. */
export default defineWorkload<{ ms: number }>({
  name: 'spin',
  description: 'Burns CPU time.',
  run({ ms }) {
    const began = process.cpuUsage()
    let rounds = 0
    for (;;) {
      const { user, system } = process.cpuUsage(began)
      if (user + system >= ms * 1000) return { rounds, cpuMs: (user + system) / 1000 }
      for (let i = 0; i < 2000; i++) rounds++
    }
  },
})
