import {
  chatDigest,
  isRefusal,
  jsonPost,
  readShaped,
  secondsIn,
  vendorDead,
  verdictOf,
  type Channel,
} from './channel.ts'
import { factLines, messageOf, fit } from './message.ts'

/** "Text of the message to be sent, 1-4096 characters after entities parsing" (core.telegram.org, sendMessage) */
const TEXT_MAX = 4_096
const FACTS_MAX = 500
const TITLE_MAX = 300

interface TelegramDestination {
  readonly bot_token: string
  readonly chat_id: string
}

const fields = {
  bot_token: {
    description: 'the token of your bot',
    maxLength: 100,
    example: '123456789:AAE-your-bot-token-of-35-characters',
  },
  chat_id: { description: 'the chat that the bot is in', maxLength: 64, example: '-1001234567890' },
} as const

const token = {
  shape: /^\d{5,15}:[\w-]{30,60}$/,
  advice: 'must be what @BotFather gave, digits, a colon and about 35 characters.',
}
const chat = {
  shape: /^(?:-?\d{1,20}|@[A-Za-z]\w{3,31})$/,
  advice:
    'must be the number of a chat, or @name of a public channel: add the bot to it first, or write to the bot; getUpdates then shows the number.',
}

/** Telegram: a bot of the owner's writes to a chat. */
export const telegram: Channel<TelegramDestination> = {
  name: 'telegram',
  description: 'a message in a Telegram chat, by a bot of yours',
  fields,
  digest: chatDigest(35),
  read(given) {
    const bot = readShaped(fields, 'bot_token', given, token)
    if (isRefusal(bot)) return bot
    const chatId = readShaped(fields, 'chat_id', given, chat)
    return isRefusal(chatId) ? chatId : { ...bot, ...chatId }
  },
  shown: ({ bot_token, chat_id }) => `bot ${bot_token.slice(0, bot_token.indexOf(':'))}, chat …${chat_id.slice(-3)}`,
  request({ bot_token, chat_id }, event) {
    const message = messageOf(event)
    const head = `${fit(message.title, TITLE_MAX)}\n`
    const facts = `\n${fit(factLines(message), FACTS_MAX)}`
    // Without parse_mode the text is shown as it is: there is nothing to escape.
    const text = head + fit(message.text, TEXT_MAX - head.length - facts.length) + facts
    const body = { chat_id, text, link_preview_options: { is_disabled: true } }
    return jsonPost(new URL(`https://api.telegram.org/bot${bot_token}/sendMessage`), body)
  },
  /**
   * retry_after: "In case of exceeding flood control, the number of seconds left to wait before the request can be
   * repeated" (core.telegram.org, ResponseParameters). A bot that was blocked or kicked gets 403, a wrong token 401 or 404,
   * a chat that is not there a 400 that only its description tells from others.
   */
  verdict: (heard) => verdictOf(heard, vendorDead(heard, deadChat), secondsIn(heard.text, 'parameters', 'retry_after')),
}

const deadChat =
  /chat not found|user not found|peer_id_invalid|deactivated|upgraded to a supergroup|kicked|not enough rights|have no rights|chat_write_forbidden/i
