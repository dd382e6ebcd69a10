import type { Channel } from './channel.ts'
import { discord } from './discord.ts'
import { email } from './email.ts'
import { pagerduty } from './pagerduty.ts'
import { slack } from './slack.ts'
import { teams } from './teams.ts'
import { telegram } from './telegram.ts'
import { template } from './template.ts'
import { webhook } from './webhook.ts'

/** Every way to tell somebody. A further one is a file beside this one and a line here. */
export const channels: readonly Channel[] = [webhook, slack, discord, telegram, teams, pagerduty, email, template]
