import { defineWorkload } from 'plimsoll/workload'

/** Uses a given amount of CPU time, however often it is paused. */
export default defineWorkload<{ ms: number }>({
  name: 'spin',
  description: 'Uses CPU time',
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
