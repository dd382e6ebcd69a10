import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import { listen } from '../../infra/http/ops.ts'
import { sayReady } from '../../infra/lifecycle.ts'

/** What any answer costs at least: the framework, one route, and JSON of the body in the file that argument 1 names. */
const body = JSON.parse(readFileSync(String(process.argv[2]), 'utf8')) as object
const router = new Router().get('/cvd/:symbol', (context) => {
  context.body = body
})
const handle = new Koa().use(router.routes()).callback()
const server = createServer((request, response) => void handle(request, response))
const port = await listen(server, '127.0.0.1', 0)
process.on('disconnect', () => process.exit(0))
sayReady(`http://127.0.0.1:${port}`)
