import { test } from 'node:test'
import { keepersKeepPromises } from './keeper/seeds.ts'

test('keepers keep their promises in the third part of the seeds', () => keepersKeepPromises(2))
