import { ask } from './ask.ts'
import { byId, el, say } from './dom.ts'

interface CreatedAnswer {
  readonly alert_id: string
  readonly message: string
  readonly manage_token: string
  readonly webhook_secret: string
}

/** What was sent last and may have been done or not: sent again, it must not make a second alert. */
let sent = { text: '', key: '' }

type Tell = (words: string, is: 'ok' | 'failed') => void

/** The form that makes an alert; `tell` says what became of it. */
export function wireForm(symbols: readonly string[], tell: Tell): void {
  const form = byId('create')
  if (!(form instanceof HTMLFormElement)) return
  byId('symbol').replaceChildren(...symbols.map((symbol) => el('option', { value: symbol }, symbol)))
  form.addEventListener('change', () => choose(form))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void create(form, tell)
  })
  choose(form)
}

/** Shows the fields of the kind that is chosen, and no others. */
function choose(form: HTMLFormElement): void {
  const kind = new FormData(form).get('kind')
  for (const field of form.querySelectorAll('[data-for]')) {
    if (!(field instanceof HTMLElement)) continue
    field.hidden = field.dataset['for'] !== kind
    for (const input of field.querySelectorAll('input')) input.required = !field.hidden
  }
}

async function create(form: HTMLFormElement, tell: Tell): Promise<void> {
  const data = new FormData(form)
  const text = (name: string): string => {
    const value = data.get(name)
    return typeof value === 'string' ? value.trim() : ''
  }
  const number = (name: string): number => Number(text(name).replaceAll(',', ''))
  const isPrice = text('kind') === 'price'
  const terms = isPrice
    ? { condition: text('condition'), target_price: number('target_price') }
    : { threshold_pct: number('threshold_pct'), min_value_usd: number('min_value_usd') }
  const body = {
    symbol: text('symbol'),
    ...terms,
    webhook_url: text('webhook_url'),
    expires_in_hours: number('expires_in_hours'),
  }
  const button = form.querySelector('button')
  if (button !== null) button.disabled = true
  const path = isPrice ? '/api/price-alert' : '/api/liquidation/alert'
  const answer = await ask<CreatedAnswer>(path, { method: 'POST', body, key: keyOf(path, body) })
  if (button !== null) button.disabled = false
  tell(answer.is === 'ok' ? answer.body.message : answer.message, answer.is)
  byId('secrets').hidden = answer.is !== 'ok'
  const isUnknown = answer.is === 'failed' && (answer.status === 0 || answer.status >= 500)
  if (!isUnknown) sent = { text: '', key: '' }
  if (answer.is === 'failed') return
  say(byId('webhook-secret'), answer.body.webhook_secret)
  say(byId('manage-token'), answer.body.manage_token)
}

function keyOf(path: string, body: object): string {
  const text = JSON.stringify([path, body])
  if (sent.text !== text) sent = { text, key: crypto.randomUUID() }
  return sent.key
}
