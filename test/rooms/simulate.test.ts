import { roomTests } from '../support/room-tests.ts'

roomTests('simulate')
