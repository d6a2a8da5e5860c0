import { defineWorkload } from '../../src/workload/workload.ts'

export default defineWorkload({
  name: 'nothing',
  description: 'Does nothing, and names its process',
  run: () => ({ pid: process.pid }),
})
