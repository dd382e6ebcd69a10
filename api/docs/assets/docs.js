// Narrows the contents to what the words in the search field match; Enter goes to the first match.
const field = document.querySelector('#search')
const none = document.querySelector('#search-none')
const items = [...document.querySelectorAll('nav li')]

function narrow() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
  for (const item of items) item.hidden = !words.every((word) => item.dataset.words.includes(word))
  for (const list of document.querySelectorAll('nav section'))
    list.hidden = [...list.querySelectorAll('li')].every((item) => item.hidden)
  none.hidden = items.some((item) => !item.hidden)
}

if (field) {
  field.closest('p').hidden = false
  field.addEventListener('input', narrow)
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter')
      items
        .find((item) => !item.hidden)
        ?.querySelector('a')
        .click()
    if (event.key === 'Escape') {
      field.value = ''
      narrow()
    }
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target instanceof HTMLInputElement) return
    event.preventDefault()
    field.focus()
  })
}
