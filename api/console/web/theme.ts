/** Light or dark: as the system says until the reader says otherwise. Runs before the first paint. */
;(() => {
  const stored = localStorage.getItem('theme')
  const root = document.documentElement
  if (stored === 'light' || stored === 'dark') root.dataset['theme'] = stored
  const isDark = (): boolean =>
    root.dataset['theme'] === undefined
      ? matchMedia('(prefers-color-scheme: dark)').matches
      : root.dataset['theme'] === 'dark'
  document.addEventListener('DOMContentLoaded', () => {
    const button = document.querySelector('#theme')
    if (!(button instanceof HTMLButtonElement)) return
    const say = (): void => {
      button.textContent = isDark() ? 'Light' : 'Dark'
      button.setAttribute('aria-label', isDark() ? 'Use light colours' : 'Use dark colours')
    }
    button.addEventListener('click', () => {
      const theme = isDark() ? 'light' : 'dark'
      root.dataset['theme'] = theme
      localStorage.setItem('theme', theme)
      say()
      document.dispatchEvent(new Event('themechange'))
    })
    say()
  })
})()
