import { addresses, tradeVenues, usualTradeVenues, venueNames, type AddressSetting } from '../../schemas/venues.ts'

/** How a setting's text becomes a value. */
type Kind = 'text' | 'count' | 'number' | 'url' | 'list' | 'flag'

export interface Setting {
  readonly kind: Kind
  /** Text as in the environment; undefined: required by the services that read it. */
  readonly default: string | undefined
  readonly description: string
  readonly example: string
  /** Of a number: the least, 0 where it is left out, and the most. */
  readonly min?: number
  readonly max?: number
  /** Allowed values, of a list its items, where they are few. */
  readonly oneOf?: readonly string[]
  /** Of a text that is not empty, or of each item of a list: what it has to match, and that in words. */
  readonly form?: { readonly pattern: RegExp; readonly says: string }
  /** Never logged, never shown. */
  readonly secret?: true
  /** Its name in a former release: still read, with a warning. */
  readonly formerly?: string
}

/** What is derived from it, or encrypted with it, must not be guessed. */
const long = { pattern: /^.{32,}$/s, says: 'of 32 characters or more' }
/** A shorter one is no secret: struck out of the log, it would take with it what lines are made of. */
const password = { pattern: /^.{8,}$/s, says: 'of 8 characters or more' }

const PORT_MAX = 65_535
/** A week: a timer of 25 days would go off at once. */
const TIMER_SECONDS_MAX = 604_800

/** One per address of a venue. */
const addressSettings = Object.fromEntries(
  addresses.map(({ setting, title, host, own }) => {
    const what = { ws: 'WebSocket', rest: 'REST', spotWs: 'spot WebSocket', spotRest: 'spot REST', archive: 'archive' }[
      host
    ]
    const description = `${title} ${what} base; empty: the venue’s own.`
    return [setting, { kind: 'text', default: '', description, example: own }]
  }),
) as Readonly<Record<AddressSetting, Setting & { readonly kind: 'text' }>>

/** Every environment variable that any part of the product reads. The README's table is made from this. */
export const settings = {
  MODE: {
    kind: 'text',
    default: 'demo',
    oneOf: ['demo', 'live', 'tape'],
    description:
      'Where the market comes from: the simulator, the real venues, or a recorded tape. Shown in every answer of a demo.',
    example: 'live',
  },
  NAMESPACE: {
    kind: 'text',
    default: '',
    description: 'Put before every topic, group and transactional id, so that several systems can share a broker.',
    example: 'staging.',
  },
  PARTITIONS: {
    kind: 'count',
    min: 1,
    max: 1_000,
    default: '12',
    description:
      'Partitions of every topic that is partitioned by asset; fixed when the log is created. On one machine, where it is not given, as the data folder was begun with: one for each core, 2 to 12.',
    example: '12',
  },
  REPLICATION_FACTOR: {
    kind: 'count',
    min: 1,
    default: '1',
    description: 'Replication factor of the topics that are created.',
    example: '3',
  },
  RETENTION_BYTES: {
    kind: 'count',
    min: 1,
    default: '10000000000',
    description: 'Size limit of a facts topic over all its partitions, bytes; the oldest records go first.',
    example: '10000000000',
  },
  ON_LOST_LOG: {
    kind: 'text',
    default: 'go-on',
    oneOf: ['go-on', 'stop'],
    description:
      'Where the log lost what was read of it (a power cut, a restored copy): go on where it differs, with a recorded gap, or stop with exit code 4.',
    example: 'stop',
  },
  KAFKA_BROKERS: {
    kind: 'list',
    default: '127.0.0.1:9092',
    description: 'Kafka brokers, comma-separated.',
    example: 'kafka-1:9092,kafka-2:9092',
  },
  SCHEMA_REGISTRY_URL: {
    kind: 'url',
    default: 'http://127.0.0.1:8081/apis/ccompat/v7',
    description: 'Base of the schema registry’s Confluent-compatible API.',
    example: 'http://registry:8081/apis/ccompat/v7',
  },
  CLICKHOUSE_URL: {
    kind: 'url',
    default: 'http://127.0.0.1:8123',
    description: 'ClickHouse’s HTTP interface.',
    example: 'http://clickhouse:8123',
  },
  CLICKHOUSE_USER: {
    kind: 'text',
    default: 'default',
    description: 'ClickHouse user that may write.',
    example: 'default',
  },
  CLICKHOUSE_PASSWORD: {
    kind: 'text',
    default: '',
    secret: true,
    form: password,
    description: 'Password of CLICKHOUSE_USER, and of `default` at the local ClickHouse; or CLICKHOUSE_PASSWORD_FILE.',
    example: 'a-long-random-text',
  },
  CLICKHOUSE_PASSWORD_FILE: {
    kind: 'text',
    default: '',
    description: 'File that holds CLICKHOUSE_PASSWORD; on one machine it is made at the first start.',
    example: '/run/secrets/clickhouse-password',
  },
  CLICKHOUSE_DATABASE: {
    kind: 'text',
    default: 'market',
    description: 'Database that holds all tables and views; `analyst` of `docker compose` may read `market` alone.',
    example: 'market',
  },
  CLICKHOUSE_ANALYST_PASSWORD: {
    kind: 'text',
    default: '',
    secret: true,
    form: password,
    description: 'Password of the read-only user `analyst` of the local ClickHouse; empty: none is asked for.',
    example: 'a-long-random-text',
  },
  CLICKHOUSE_PORT: {
    kind: 'count',
    max: PORT_MAX,
    default: '8123',
    description: 'Port of the local ClickHouse’s HTTP interface; 0: any free one.',
    example: '8123',
  },
  CLICKHOUSE_KAFKA_BROKERS: {
    kind: 'list',
    default: '',
    description: 'Kafka brokers as ClickHouse reaches them; empty: as KAFKA_BROKERS.',
    example: 'kafka:9092',
  },
  CLICKHOUSE_REGISTRY_URL: {
    kind: 'text',
    default: '',
    description: 'Schema registry as ClickHouse reaches it; empty: as SCHEMA_REGISTRY_URL.',
    example: 'http://registry:8081/apis/ccompat/v7',
  },
  CLICKHOUSE_FLUSH_MS: {
    kind: 'count',
    min: 1,
    default: '1000',
    description:
      'ClickHouse writes trades and flow that it reads of Kafka at least this often, ms, all else half as often, candles and audits an eighth: rows are found by queries about half as long again later.',
    example: '200',
  },
  CLICKHOUSE_REBUILD: {
    kind: 'flag',
    default: '0',
    description:
      '1: a database that another release made, or that has what a log that was restored has not, is dropped and filled again from the log; without it the start is refused.',
    example: '1',
  },
  LOG_LEVEL: {
    kind: 'text',
    default: 'info',
    oneOf: ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
    description: 'Least level that is logged.',
    example: 'debug',
  },
  LOG_FORMAT: {
    kind: 'text',
    default: 'auto',
    oneOf: ['auto', 'json', 'pretty'],
    description: 'Logs for machines or for people; auto: pretty on a terminal.',
    example: 'json',
  },
  OPS_HOST: {
    kind: 'text',
    default: '127.0.0.1',
    description: 'Address of a service’s /healthz and /metrics.',
    example: '0.0.0.0',
  },
  OPS_PORT: {
    kind: 'count',
    max: PORT_MAX,
    default: '0',
    description: 'Port of a service’s /healthz and /metrics; 0: any free one.',
    example: '9100',
  },
  API_HOST: { kind: 'text', default: '127.0.0.1', description: 'Address that the API listens on.', example: '0.0.0.0' },
  API_PORT: {
    kind: 'count',
    max: PORT_MAX,
    default: '3000',
    description: 'Port of the API; 0: any free one.',
    example: '3000',
  },
  API_NAMES: {
    kind: 'list',
    default: '',
    description:
      'Names beside this machine’s own and PAYMENT_PUBLIC_URL’s by which an API on loopback is asked, through a proxy that passes Host on; comma-separated.',
    example: 'api.example.com',
  },
  API_SERVICES: {
    kind: 'list',
    default: '',
    description:
      'Other services’ base addresses whose metrics the API’s /metrics includes, as name=url, comma-separated.',
    example: 'feeds=http://feeds:9100,processors=http://processors:9100',
  },
  RATE_LIMIT_PER_SECOND: {
    kind: 'number',
    default: '20',
    description: 'Free requests a second per address; 0 turns the limit off.',
    example: '20',
  },
  RATE_LIMIT_BURST: {
    kind: 'count',
    min: 1,
    default: '40',
    description: 'Free requests that an address may make at once.',
    example: '40',
  },
  KEY_RATE_PER_SECOND: {
    kind: 'number',
    default: '100',
    description: 'Paid requests a second per API key and API instance; 0 turns the limit off.',
    example: '100',
  },
  KEY_RATE_BURST: {
    kind: 'count',
    min: 1,
    default: '200',
    description: 'Paid requests that an API key may make at once, per API instance.',
    example: '200',
  },
  FREE_REQUESTS_PER_DAY: {
    kind: 'count',
    default: '0',
    description:
      'Questions with a price that an address may ask for nothing on a day, spread over it, per API instance; 0: none.',
    example: '50',
  },
  API_IN_FLIGHT_MAX: {
    kind: 'count',
    min: 1,
    default: '500',
    description: 'Requests that one API instance answers at once; more are refused with 503 overloaded.',
    example: '2000',
  },
  TRUST_PROXY: {
    kind: 'flag',
    default: '0',
    description: '1: the caller’s address is the last one of X-Forwarded-For; only behind a proxy that sets it.',
    example: '1',
  },
  CONSOLE_HOST: {
    kind: 'text',
    default: '127.0.0.1',
    description: 'Address that the operators’ console listens on; beyond loopback CONSOLE_TOKEN is required.',
    example: '0.0.0.0',
  },
  CONSOLE_PORT: {
    kind: 'count',
    max: PORT_MAX,
    default: '3001',
    description: 'Port of the console; 0: any free one.',
    example: '3001',
  },
  CONSOLE_TOKEN: {
    kind: 'text',
    default: '',
    secret: true,
    form: { pattern: /^.{24,}$/s, says: 'of 24 characters or more' },
    description:
      'What operators log in to the console with, 24 characters or more; empty: loopback only, without a login.',
    example: 'a-long-random-text-of-24+',
  },
  PROCESSORS: { kind: 'list', default: '', description: 'Processors that this host runs; empty: all.', example: 'cvd' },
  MEMBERSHIP: {
    kind: 'text',
    default: 'fixed',
    oneOf: ['fixed', 'group'],
    description: 'Who owns which partitions: fixed (one host runs all) or a Kafka consumer group (many hosts).',
    example: 'group',
  },
  SNAPSHOT_SECONDS: {
    kind: 'number',
    max: TIMER_SECONDS_MAX,
    default: '30',
    description:
      'Longest time between two snapshots of a partition’s state; 25,000 records or 2 MB of input end it sooner.',
    example: '30',
  },
  SERVICE_SECRET: {
    kind: 'text',
    default: '',
    secret: true,
    form: long,
    description:
      'Secret of 32 characters or more that owners’ tokens and webhook secrets are derived from; or SERVICE_SECRET_FILE.',
    example: 'a-long-random-text-of-at-least-32-characters',
  },
  SERVICE_SECRET_FILE: {
    kind: 'text',
    default: '',
    description: 'File that holds SERVICE_SECRET; on one machine it is made at the first start.',
    example: '/run/secrets/service-secret',
  },
  SERVICE_SECRET_VERSION: {
    kind: 'count',
    default: '1',
    description: 'Version of SERVICE_SECRET; raised when it is replaced.',
    example: '2',
  },
  SERVICE_SECRETS_READ: {
    kind: 'list',
    default: '',
    secret: true,
    form: { pattern: /^\d{1,6}:.{32,}$/s, says: 'of version:secret, of 32 characters or more each' },
    formerly: 'SERVICE_SECRETS_OLD',
    description:
      'Secrets that are read beside SERVICE_SECRET, as version:secret, comma-separated: former ones that alerts were made under, and one that is to come.',
    example: '1:the-former-secret-of-at-least-32-characters',
  },
  ALERT_CONTROL: {
    kind: 'text',
    default: 'token',
    oneOf: ['token', 'open'],
    description:
      'Who may cancel and extend an alert: whoever has its manage_token, or (open) anyone; open is for private deployments.',
    example: 'open',
  },
  WEBHOOK_ALLOW_PRIVATE: {
    kind: 'flag',
    default: '0',
    description: '1: webhooks may go to private addresses; for development only.',
    example: '1',
  },
  WEBHOOK_CA_FILE: {
    kind: 'text',
    default: '',
    description: 'Further certificate authority that webhook receivers are trusted by, PEM.',
    example: '/data/receiver/ca.pem',
  },
  CHANNEL_BASES: {
    kind: 'list',
    default: '',
    description:
      'What stands in for a channel’s vendor, in tests, as type=url, comma-separated; empty: each vendor’s own address.',
    example: 'slack=https://localhost:4443,telegram=https://localhost:4444',
  },
  SMTP_URL: {
    kind: 'text',
    default: '',
    secret: true,
    description:
      'Server that alerts by email leave through, smtp:// or smtps://, over TLS unless it is this machine; empty: no email.',
    example: 'smtp://user:password@mail.example.com:587',
  },
  SMTP_FROM: {
    kind: 'text',
    default: '',
    description: 'Sender of alerts by email; the API takes destinations of email where it is set.',
    example: 'Market data alerts <alerts@example.com>',
  },
  WEBHOOK_SLOTS: {
    kind: 'count',
    min: 1,
    default: '512',
    description:
      'Deliveries that one dispatcher makes at once, over all receivers; emails have 20 connections beside them.',
    example: '2000',
  },
  WEBHOOK_SLOTS_PER_RECEIVER: {
    kind: 'count',
    min: 1,
    default: '16',
    description: 'Deliveries that one dispatcher makes at once to one receiver.',
    example: '50',
  },
  PAYMENTS: {
    kind: 'text',
    default: 'off',
    oneOf: ['off', 'local', 'x402'],
    description:
      'Whether routes are paid for: off (all are free), local (play money on the chain of this machine) or x402 (USDC on a real network).',
    example: 'x402',
  },
  PAYMENT_RPC_URL: {
    kind: 'text',
    default: '',
    secret: true,
    description:
      'JSON-RPC address of a node of the network that payments are made on; required unless payments are off.',
    example: 'https://sepolia.base.org',
  },
  PAYMENT_CHAIN_ID: {
    kind: 'count',
    default: '84532',
    oneOf: ['8453', '84532'],
    description: 'Network that payments are made on: 8453 (Base) or 84532 (Base Sepolia, a test network).',
    example: '8453',
  },
  PAYMENT_ASSET: {
    kind: 'text',
    default: '',
    description:
      'Token that is paid with, an address; empty: the network’s USDC. Another one needs its name and version too, and tells of `AuthorizationUsed` right before its `Transfer`, as EIP-3009 has it.',
    example: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  },
  PAYMENT_ASSET_NAME: {
    kind: 'text',
    default: '',
    description: 'Name in the token’s EIP-712 domain; empty: that of the network’s USDC.',
    example: 'USD Coin',
  },
  PAYMENT_ASSET_VERSION: {
    kind: 'text',
    default: '',
    description: 'Version in the token’s EIP-712 domain; empty: that of the network’s USDC.',
    example: '2',
  },
  PAYMENT_PAY_TO: {
    kind: 'text',
    default: '',
    description:
      'Address that is paid; of one deployment only, so that no payment can be shown to another. Required unless payments are off.',
    example: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
  },
  PAYMENT_WALLET_KEY: {
    kind: 'text',
    default: '',
    secret: true,
    description:
      'Private key, 32 bytes in hex, of the wallet that sends the transactions and pays their gas; or PAYMENT_WALLET_KEY_FILE. It needs no USDC.',
    example: '0x and 64 hex digits',
  },
  PAYMENT_WALLET_KEY_FILE: {
    kind: 'text',
    default: '',
    description: 'File that holds PAYMENT_WALLET_KEY.',
    example: '/run/secrets/payment-wallet-key',
  },
  PAYMENT_FACILITATOR_URL: {
    kind: 'text',
    default: '',
    secret: true,
    description: 'x402 facilitator that verifies and settles in place of a wallet of ours; empty: our own wallet.',
    example: 'https://x402.org/facilitator',
  },
  PAYMENT_PUBLIC_URL: {
    kind: 'text',
    default: '',
    description: 'Base address under which callers reach the API, as payment offers name it; empty: the API’s own.',
    example: 'https://api.example.com',
  },
  PAYMENT_SETTLE_SECONDS: {
    kind: 'number',
    default: '20',
    description:
      'How long a paid request waits for its payment to be settled; later it is told to come again with the same payment.',
    example: '20',
  },
  PAYMENT_GAS_WEI_MIN: {
    kind: 'count',
    default: '1000000000000000',
    description:
      'Least balance of the wallet at which the service starts, wei; 0.001 ether pays some thousand settlements on Base.',
    example: '1000000000000000',
  },
  PAYMENT_GAS_LOST_WEI_MAX: {
    kind: 'count',
    default: '2000000000000000',
    description:
      'Gas of transactions that were undone, over all payers, within an hour, wei; with what is on its way, which counts as lost until it has settled. Beyond it nothing is sent, and /healthz says so.',
    example: '2000000000000000',
  },
  PAYMENT_FEE_WEI_MAX: {
    kind: 'count',
    default: '1000000000',
    description:
      'Most that is paid for a unit of gas, wei; while it costs more, nothing is sent and /healthz says so. A settlement takes about 80,000 units.',
    example: '1000000000',
  },
  PAYMENT_COOL_SECONDS: {
    kind: 'number',
    default: '300',
    description:
      'How long nothing is sent for a payer whose transfer was undone in the block; where its code refused it, for all wallets of the same code.',
    example: '300',
  },
  PAYER_KEY: {
    kind: 'text',
    default: '',
    secret: true,
    description:
      'Private key that npm run pay pays with; or PAYER_KEY_FILE. Empty: the example payer of the local chain.',
    example: '0x and 64 hex digits',
  },
  PAYER_KEY_FILE: {
    kind: 'text',
    default: '',
    description: 'File that holds PAYER_KEY.',
    example: '/run/secrets/payer-key',
  },
  MDA_API_KEY: {
    kind: 'text',
    default: '',
    secret: true,
    form: { pattern: /^mda_/, says: 'of the form mda_...' },
    description: 'API key whose credit npm run mcp charges; or MDA_API_KEY_FILE. Empty: none.',
    example: 'mda_...',
  },
  MDA_API_KEY_FILE: {
    kind: 'text',
    default: '',
    description: 'File that holds MDA_API_KEY.',
    example: '/run/secrets/mda-api-key',
  },
  CHAIN_BLOCK_SECONDS: {
    kind: 'count',
    max: TIMER_SECONDS_MAX,
    default: '0',
    description: 'Time between two blocks of the local chain; 0: a block for each transaction, at once. Base has 2.',
    example: '2',
  },
  BROKER_FORGETS_SECONDS: {
    kind: 'count',
    max: TIMER_SECONDS_MAX,
    default: '0',
    description:
      'How long the local broker remembers who owned a partition and gives no sign; 0: 24 days. Seconds are for tests.',
    example: '6',
  },
  FEED_NAME: {
    kind: 'text',
    default: '',
    description:
      'Name of this feed process in marks and gaps; each has its own: of two with the same, the older counts as gone. Empty: feeds- and the name of the machine.',
    example: 'feeds-b',
  },
  FEED_CLOCK: {
    kind: 'text',
    default: 'host',
    oneOf: ['host', 'tape'],
    description: 'Receive times and marks: the host’s clock, or on a tape the newest venue time seen.',
    example: 'tape',
  },
  VENUES: {
    kind: 'list',
    default: venueNames.join(','),
    oneOf: venueNames,
    description: 'Venues, and the token registry, that are asked; leave one out to switch it off.',
    example: 'binance,okx',
  },
  CVD_VENUES: {
    kind: 'list',
    default: usualTradeVenues.map(({ venue }) => venue).join(','),
    oneOf: tradeVenues.map(({ venue }) => venue),
    description:
      'Venues of VENUES whose trades count, in /cvd, /ohlcv and what follows from them. The same for feeds and API.',
    example: 'binance,bybit,okx,coinbase,kraken',
  },
  SYMBOLS: {
    kind: 'list',
    default: '',
    description: 'Symbols streamed from the start; empty: the eight pre-subscribed ones.',
    example: 'BTC,ETH',
  },
  LISTINGS_SECONDS: {
    kind: 'number',
    min: 1,
    max: TIMER_SECONDS_MAX,
    default: '3600',
    description: 'How often a venue is asked what it lists: new markets, delistings, changed contract values.',
    example: '600',
  },
  BACKFILL_DAYS: {
    kind: 'count',
    default: '90',
    description:
      'How many days of the past are read back of each streamed symbol, behind all other calls: hourly candles, settled funding, open interest, mark prices and ratios, each as far as its venue has it; 0: none.',
    example: '365',
  },
  BACKFILL_MINUTE_DAYS: {
    kind: 'count',
    default: '1',
    description:
      'How many days of candles of a minute are read back behind those of hours, for charts below an hour; 0: none.',
    example: '7',
  },
  BACKFILL_ARCHIVE_DAYS: {
    kind: 'count',
    default: '0',
    description:
      'How many days of the venues’ public archives of trades are read back behind the candles, of each market whose trades count: some tens of MB a day are fetched of a busy one. `npm run backfill -- --archives` reads others; 0: none by itself.',
    example: '30',
  },
  ARCHIVE_DIR: {
    kind: 'text',
    default: '',
    description:
      'Where a file of an archive lies while it is read, one for each venue at a time; empty: the system’s folder of temporary files.',
    example: '/data/archives',
  },
  ...addressSettings,
  FRAMES_DIR: {
    kind: 'text',
    default: '',
    description: 'Folder of the hourly tapes of raw frames; empty: none are kept.',
    example: '/data/frames',
  },
  FRAMES_MAX_GB: {
    kind: 'number',
    default: '5',
    description: 'Size limit of the raw-frame tapes; the oldest hour goes first.',
    example: '50',
  },
  SIMULATOR_PORT: {
    kind: 'count',
    max: PORT_MAX,
    default: '0',
    description: 'Port of the venue simulator; 0: any free one.',
    example: '4100',
  },
  SIMULATOR_SEED: {
    kind: 'count',
    default: '1',
    description: 'Seed of the simulated market and of its faults.',
    example: '7',
  },
  SIMULATOR_RATE: {
    kind: 'number',
    default: '150',
    description: 'Trades a second of the simulated market over all venues and the eight pre-subscribed symbols.',
    example: '2000',
  },
  SIMULATOR_TAPE: {
    kind: 'text',
    default: '',
    description: 'Tape, or folder of tapes, that the simulator plays instead of its market.',
    example: 'tapes/2024-08-08',
  },
  SIMULATOR_SPEED: {
    kind: 'number',
    default: '1',
    description: 'Speed of a tape; 0: as fast as it can be read.',
    example: '10',
  },
  SIMULATOR_RETIME: { kind: 'flag', default: '0', description: '1: a tape’s times are shifted to now.', example: '1' },
  SIMULATOR_FILLERS: {
    kind: 'count',
    default: '0',
    description: 'Further made-up assets whose perpetuals Binance, Bybit and OKX list in the simulated market.',
    example: '400',
  },
  SIMULATOR_FAULTS: {
    kind: 'flag',
    default: '0',
    description: '1: the simulator injects its seeded schedule of faults by itself.',
    example: '1',
  },
  BACKUP_KEY: {
    kind: 'text',
    default: '',
    secret: true,
    form: long,
    description:
      'What backups are encrypted with, 32 characters or more; or BACKUP_KEY_FILE. Whoever loses it has no backups.',
    example: 'a-long-random-text-of-at-least-32-characters',
  },
  BACKUP_KEY_FILE: {
    kind: 'text',
    default: '',
    description: 'File that holds BACKUP_KEY; not on the machine’s own disk alone.',
    example: '/run/secrets/backup-key',
  },
  DATA_DIR: {
    kind: 'text',
    default: '.data',
    description: 'Folder of the local parts’ data.',
    example: '/var/lib/market-data',
  },
  MDA_CACHE: {
    kind: 'text',
    default: '',
    description: 'Folder that keeps the downloaded broker and registry; empty: .cache below the checkout.',
    example: '/var/cache/market-data',
  },
  JAVA_HOME: {
    kind: 'text',
    default: '',
    description: 'Java of the local broker and registry, 17 or newer; empty: looked up.',
    example: '/usr/lib/jvm/java-17-openjdk-amd64',
  },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settings
