import { settings, type Setting, type SettingName } from './settings.ts'

interface Values {
  text: string
  url: string
  count: number
  number: number
  list: readonly string[]
  flag: boolean
}

/** The values of the named settings, typed by their kind. */
export type Config<Names extends SettingName> = { readonly [Name in Names]: Values[(typeof settings)[Name]['kind']] }

/** A setting that cannot be read: the message names it, what it got and an example. */
export class ConfigError extends Error {
  readonly code = 'bad-setting'
}

/** Reads every setting that `env` has, under its name or a former one; throws as `readConfig`. */
export function checkSettings(env: Readonly<Record<string, string | undefined>>, except: readonly SettingName[]): void {
  const all = Object.entries(settings) as [SettingName, Setting][]
  const given = all.filter(([name, { formerly }]) => env[name] !== undefined || env[formerly ?? name] !== undefined)
  readConfig(
    env,
    given.map(([name]) => name).filter((name) => !except.includes(name)),
  )
}

/** Reads `names` from `env`; throws one `ConfigError` that lists every setting at fault. */
export function readConfig<Name extends SettingName>(
  env: Readonly<Record<string, string | undefined>>,
  names: readonly Name[],
): Config<Name> {
  const problems: string[] = []
  const entries = names.map((name) => {
    const setting: Setting = settings[name]
    const text = env[name] ?? formerText(env, name, setting) ?? setting.default
    const value = text === undefined ? undefined : parse(setting, text)
    if (value === undefined) problems.push(problem(name, setting, env[name]))
    return [name, value]
  })
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  return Object.fromEntries(entries) as Config<Name>
}

/** Of a setting that had another name once: what stands under that, with a warning. */
function formerText(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  { formerly }: Setting,
): string | undefined {
  const text = formerly === undefined ? undefined : env[formerly]
  if (text !== undefined && text !== '')
    process.emitWarning(`${formerly} is called ${name} now: rename it, a later release reads the new name only`)
  return text
}

/** The value of `text`, or undefined where it does not fit the setting. */
function parse(setting: Setting, text: string): Values[Setting['kind']] | undefined {
  const items = setting.kind === 'list' ? itemsOf(text) : [text]
  if (!items.every((item) => setting.oneOf?.includes(item) ?? true)) return undefined
  if (!items.every((item) => item === '' || (setting.form?.pattern.test(item) ?? true))) return undefined
  switch (setting.kind) {
    case 'text':
      return text
    case 'url':
      return URL.canParse(text) ? text.replace(/\/+$/, '') : undefined
    case 'count':
      return /^\d+$/.test(text) ? within(setting, Number(text)) : undefined
    case 'number':
      return /^\d+(\.\d+)?$/.test(text) ? within(setting, Number(text)) : undefined
    case 'list':
      return items
    case 'flag':
      return text === '1' ? true : text === '0' ? false : undefined
  }
}

function within({ min = 0, max = Number.MAX_VALUE }: Setting, value: number): number | undefined {
  return value >= min && value <= max ? value : undefined
}

function itemsOf(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

function problem(name: string, setting: Setting, got: string | undefined): string {
  const { kind, oneOf, form } = setting
  const what =
    oneOf === undefined
      ? `${kinds[kind](boundsText(setting))}${form === undefined ? '' : ` ${form.says}`}`
      : `${kind === 'list' ? 'a list of' : 'one of'} ${oneOf.join(', ')}`
  const shown =
    got === undefined ? 'nothing' : setting.secret === true ? 'a text that is not shown' : JSON.stringify(got)
  return `${name} must be ${what}, got ${shown}; for example ${name}=${setting.example}`
}

const kinds: Readonly<Record<Setting['kind'], (bounds: string) => string>> = {
  text: () => 'a text',
  url: () => 'an absolute URL',
  count: (bounds) => `a whole number ${bounds}`,
  number: (bounds) => `a number ${bounds}`,
  list: () => 'a comma-separated list',
  flag: () => '0 or 1',
}

/** Of a number: `of 1 or more`, `from 0 to 65535`. */
export function boundsText({ min = 0, max }: Setting): string {
  return max === undefined ? `of ${min} or more` : `from ${min} to ${max}`
}

/** Lines for `--help`: each setting with its default and what it says. */
export function settingsHelp(names: readonly SettingName[]): string {
  return names
    .map((name) => {
      const setting: Setting = settings[name]
      return `  ${name}=${setting.default ?? '(required)'}\n      ${setting.description}`
    })
    .join('\n')
}
