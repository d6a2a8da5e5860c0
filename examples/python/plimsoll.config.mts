import { defineConfig } from 'plimsoll'

export default defineConfig({
  workers: { command: 'python3 app.py --port {port}', health: '/health' },
  routes: [
    { name: 'primes', path: '/primes', methods: ['GET'], features: { below: 'query.below' } },
    { name: 'upload', path: '/upload/:name', methods: ['PUT', 'POST'], features: { bytes: 'body.bytes' } },
    { name: 'count', path: '/count', methods: ['GET'] },
    { name: 'rest', path: '/**' },
  ],
})
