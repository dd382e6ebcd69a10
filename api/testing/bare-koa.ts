import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import { listen } from '../../infra/http/ops.ts'
import { sayReady } from '../../infra/lifecycle.ts'

/**
 * What any answer costs at least: the framework, one route, and JSON of a body. The file that argument 1 names holds an
 * array of bodies; `/bodies/:n` gives the n-th.
 */
const bodies = JSON.parse(readFileSync(String(process.argv[2]), 'utf8')) as object[]
const router = new Router().get('/bodies/:n', (context) => {
  context.body = bodies[Number(context.params['n'])]
})
const handle = new Koa().use(router.routes()).callback()
const server = createServer((request, response) => void handle(request, response))
const port = await listen(server, '127.0.0.1', 0)
process.on('disconnect', () => process.exit(0))
sayReady(`http://127.0.0.1:${port}`)
