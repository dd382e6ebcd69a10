import { el } from './dom.ts'

/** What one can choose: its value, and how it is called. */
export type Choice = readonly [value: string, text: string]

/** A select without a visible label; `name`: what it is called. */
export function chooser(name: string, choices: readonly Choice[] = []): HTMLSelectElement {
  const select = document.createElement('select')
  select.setAttribute('aria-label', name)
  offer(select, choices)
  return select
}

/** Offers other choices; what was chosen stays so where it still can be. */
export function offer(select: HTMLSelectElement, choices: readonly Choice[]): void {
  const { value } = select
  select.replaceChildren(...choices.map(([given, text]) => el('option', { value: given }, text)))
  if (choices.some(([given]) => given === value)) select.value = value
}

/** A line, or an area, to write into; `name`: what it is called where it has no visible label. */
export function line(tag: 'input' | 'textarea', attributes: Readonly<Record<string, string>>): HTMLInputElement {
  // Both have the value, the limits and the checks that are used of them.
  return el(tag, { autocomplete: 'off', ...attributes }) as HTMLInputElement
}

/** Where the body has what a control says: how an error of the API finds it. */
export function at<Control extends HTMLElement>(control: Control, pointer: string): Control {
  control.dataset['pointer'] = pointer
  return control
}

/** Says beside the control concerned what is wrong with it; false: nothing here says that. */
export function showFault(form: HTMLElement, pointer: string, words: string): boolean {
  const controls = [...form.querySelectorAll<HTMLElement>('[data-pointer]')].filter(({ hidden }) => !hidden)
  const pointerOf = (control: HTMLElement): string => control.dataset['pointer'] ?? ''
  const around = controls.filter((control) => `${pointer}/`.startsWith(`${pointerOf(control)}/`))
  const [innermost] = around.toSorted((a, b) => pointerOf(b).length - pointerOf(a).length)
  const control = innermost ?? controls.find((one) => pointerOf(one).startsWith(`${pointer}/`))
  if (control === undefined) return false
  const id = `fault-${crypto.randomUUID()}`
  control.setAttribute('aria-invalid', 'true')
  control.setAttribute('aria-errormessage', id)
  const container = control.closest('.field, .condition') ?? control.parentElement
  container?.append(el('p', { class: 'fault', id, role: 'alert' }, words))
  const folded = control.closest('details')
  if (folded !== null) folded.open = true
  control.focus()
  return true
}

export function clearFaults(form: HTMLElement): void {
  for (const fault of form.querySelectorAll('.fault')) fault.remove()
  for (const control of form.querySelectorAll('[aria-invalid]')) {
    control.removeAttribute('aria-invalid')
    control.removeAttribute('aria-errormessage')
  }
}
