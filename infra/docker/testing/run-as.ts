import { Session } from 'chdb'

/**
 * Runs statements one after the other on the engine, as the one user that the given configuration knows; prints what
 * became of each as JSON: its rows as text, or its error. A process of its own, since an engine takes its configuration
 * once.
 */
const [folder = '', configFile = '', text = '[]'] = process.argv.slice(2)
const session = new Session(folder, configFile === '' ? {} : { connectionArgs: [`--config-file=${configFile}`] })
const statements: unknown = JSON.parse(text)
if (!Array.isArray(statements)) throw new Error('statements must be an array')
const texts = statements.map((statement) => {
  try {
    return { rows: session.query(String(statement), 'TSV').trim(), error: null }
  } catch (error) {
    return { rows: null, error: error instanceof Error ? error.message : String(error) }
  }
})
process.stdout.write(JSON.stringify(texts))
session.cleanup()
process.exit(0)
