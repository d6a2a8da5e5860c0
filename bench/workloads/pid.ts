import { defineWorkload } from '../../src/workload/workload.ts'

export default defineWorkload({
  name: 'pid',
  description: 'Names its process',
  run: () => ({ pid: process.pid }),
})
