// rule: size - one table of every setting; splitting it would only hide some of them
/** How a setting's text becomes a value. */
type Kind = 'text' | 'count' | 'number' | 'url' | 'list' | 'flag'

export interface Setting {
  readonly kind: Kind
  /** Text as in the environment; undefined: required by the services that read it. */
  readonly default: string | undefined
  readonly says: string
  readonly example: string
  /** Allowed values, where they are few. */
  readonly oneOf?: readonly string[]
  /** Never logged, never shown. */
  readonly secret?: true
}

/** Every environment variable that any part of the product reads. The README's table is made from this. */
export const settings = {
  MODE: {
    kind: 'text',
    default: 'demo',
    oneOf: ['demo', 'live', 'tape'],
    says: 'Where the market comes from: the simulator, the real venues, or a recorded tape. Shown in every answer of a demo.',
    example: 'live',
  },
  NAMESPACE: {
    kind: 'text',
    default: '',
    says: 'Put before every topic, group and transactional id, so that several systems can share a broker.',
    example: 'staging.',
  },
  PARTITIONS: {
    kind: 'count',
    default: '12',
    says: 'Partitions of every topic that is partitioned by asset; fixed when the log is created.',
    example: '12',
  },
  REPLICATION_FACTOR: {
    kind: 'count',
    default: '1',
    says: 'Replication factor of the topics that are created.',
    example: '3',
  },
  RETENTION_BYTES: {
    kind: 'count',
    default: '10000000000',
    says: 'Size limit of a facts topic over all its partitions, bytes; the oldest records go first.',
    example: '10000000000',
  },
  KAFKA_BROKERS: {
    kind: 'list',
    default: '127.0.0.1:9092',
    says: 'Kafka brokers, comma-separated.',
    example: 'kafka-1:9092,kafka-2:9092',
  },
  SCHEMA_REGISTRY_URL: {
    kind: 'url',
    default: 'http://127.0.0.1:8081/apis/ccompat/v7',
    says: 'Base of the schema registry’s Confluent-compatible API.',
    example: 'http://registry:8081/apis/ccompat/v7',
  },
  CLICKHOUSE_URL: {
    kind: 'url',
    default: 'http://127.0.0.1:8123',
    says: 'ClickHouse’s HTTP interface.',
    example: 'http://clickhouse:8123',
  },
  CLICKHOUSE_USER: { kind: 'text', default: 'default', says: 'ClickHouse user that may write.', example: 'default' },
  CLICKHOUSE_PASSWORD: {
    kind: 'text',
    default: '',
    secret: true,
    says: 'Password of CLICKHOUSE_USER.',
    example: 'a-long-random-text',
  },
  CLICKHOUSE_DATABASE: {
    kind: 'text',
    default: 'market',
    says: 'Database that holds all tables and views.',
    example: 'market',
  },
  CLICKHOUSE_READER_PASSWORD: {
    kind: 'text',
    default: 'reader',
    secret: true,
    says: 'Password of the read-only user `reader` of the local ClickHouse.',
    example: 'a-long-random-text',
  },
  CLICKHOUSE_PORT: {
    kind: 'count',
    default: '8123',
    says: 'Port of the local ClickHouse’s HTTP interface; 0: any free one.',
    example: '8123',
  },
  CLICKHOUSE_KAFKA_BROKERS: {
    kind: 'list',
    default: '',
    says: 'Kafka brokers as ClickHouse reaches them; empty: as KAFKA_BROKERS.',
    example: 'kafka:9092',
  },
  CLICKHOUSE_REGISTRY_URL: {
    kind: 'text',
    default: '',
    says: 'Schema registry as ClickHouse reaches it; empty: as SCHEMA_REGISTRY_URL.',
    example: 'http://registry:8081/apis/ccompat/v7',
  },
  LOG_LEVEL: {
    kind: 'text',
    default: 'info',
    oneOf: ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
    says: 'Least level that is logged.',
    example: 'debug',
  },
  LOG_FORMAT: {
    kind: 'text',
    default: 'auto',
    oneOf: ['auto', 'json', 'pretty'],
    says: 'Logs for machines or for people; auto: pretty on a terminal.',
    example: 'json',
  },
  OPS_HOST: {
    kind: 'text',
    default: '127.0.0.1',
    says: 'Address of a service’s /healthz and /metrics.',
    example: '0.0.0.0',
  },
  OPS_PORT: {
    kind: 'count',
    default: '0',
    says: 'Port of a service’s /healthz and /metrics; 0: any free one.',
    example: '9100',
  },
  API_HOST: { kind: 'text', default: '127.0.0.1', says: 'Address that the API listens on.', example: '0.0.0.0' },
  API_PORT: { kind: 'count', default: '3000', says: 'Port of the API; 0: any free one.', example: '3000' },
  API_SERVICES: {
    kind: 'list',
    default: '',
    says: 'Other services’ base addresses whose metrics the API’s /metrics includes, as name=url, comma-separated.',
    example: 'feeds=http://feeds:9100,processors=http://processors:9100',
  },
  RATE_LIMIT_PER_SECOND: {
    kind: 'number',
    default: '20',
    says: 'Free requests a second per address; 0 turns the limit off.',
    example: '20',
  },
  RATE_LIMIT_BURST: {
    kind: 'count',
    default: '40',
    says: 'Free requests that an address may make at once.',
    example: '40',
  },
  API_IN_FLIGHT_MAX: {
    kind: 'count',
    default: '500',
    says: 'Requests that one API instance answers at once; more are refused with 503 overloaded.',
    example: '2000',
  },
  TRUST_PROXY: {
    kind: 'flag',
    default: '0',
    says: '1: the caller’s address is the last one of X-Forwarded-For; only behind a proxy that sets it.',
    example: '1',
  },
  PROCESSORS: { kind: 'list', default: '', says: 'Processors that this host runs; empty: all.', example: 'cvd' },
  MEMBERSHIP: {
    kind: 'text',
    default: 'fixed',
    oneOf: ['fixed', 'group'],
    says: 'Who owns which partitions: fixed (one host runs all) or a Kafka consumer group (many hosts).',
    example: 'group',
  },
  SNAPSHOT_SECONDS: {
    kind: 'number',
    default: '5',
    says: 'Time between two snapshots of a partition’s state.',
    example: '5',
  },
  SERVICE_SECRET: {
    kind: 'text',
    default: '',
    secret: true,
    says: 'Secret of 32 characters or more that owners’ tokens and webhook secrets are derived from; or SERVICE_SECRET_FILE.',
    example: 'a-long-random-text-of-at-least-32-characters',
  },
  SERVICE_SECRET_FILE: {
    kind: 'text',
    default: '',
    says: 'File that holds SERVICE_SECRET; on one machine it is made at the first start.',
    example: '/run/secrets/service-secret',
  },
  SERVICE_SECRET_VERSION: {
    kind: 'count',
    default: '1',
    says: 'Version of SERVICE_SECRET; raised when it is replaced.',
    example: '2',
  },
  SERVICE_SECRETS_OLD: {
    kind: 'list',
    default: '',
    secret: true,
    says: 'Replaced secrets that alerts were made under, as version:secret, comma-separated.',
    example: '1:the-former-secret-of-at-least-32-characters',
  },
  ALERT_CONTROL: {
    kind: 'text',
    default: 'token',
    oneOf: ['token', 'open'],
    says: 'Who may cancel and extend an alert: whoever has its manage_token, or (open) anyone; open is for private deployments.',
    example: 'open',
  },
  WEBHOOK_ALLOW_PRIVATE: {
    kind: 'flag',
    default: '0',
    says: '1: webhooks may go to private addresses; for development only.',
    example: '1',
  },
  WEBHOOK_CA_FILE: {
    kind: 'text',
    default: '',
    says: 'Further certificate authority that webhook receivers are trusted by, PEM.',
    example: '/data/receiver/ca.pem',
  },
  WEBHOOK_SLOTS: {
    kind: 'count',
    default: '512',
    says: 'Deliveries that one dispatcher makes at once, over all receivers.',
    example: '2000',
  },
  WEBHOOK_SLOTS_PER_RECEIVER: {
    kind: 'count',
    default: '16',
    says: 'Deliveries that one dispatcher makes at once to one receiver.',
    example: '50',
  },
  FEED_NAME: {
    kind: 'text',
    default: 'feeds',
    says: 'Name of this feed process in marks and gaps; each has its own.',
    example: 'feeds-b',
  },
  FEED_CLOCK: {
    kind: 'text',
    default: 'host',
    oneOf: ['host', 'tape'],
    says: 'Receive times and marks: the host’s clock, or on a tape the newest venue time seen.',
    example: 'tape',
  },
  VENUES: {
    kind: 'list',
    default: 'binance,bybit,okx,coinbase,kraken,gate,coingecko',
    says: 'Venues, and the token registry, that are asked; leave one out to switch it off.',
    example: 'binance,okx',
  },
  SYMBOLS: {
    kind: 'list',
    default: '',
    says: 'Symbols streamed from the start; empty: the eight pre-subscribed ones.',
    example: 'BTC,ETH',
  },
  LISTINGS_SECONDS: {
    kind: 'number',
    default: '3600',
    says: 'How often a venue is asked what it lists: new markets, delistings, changed contract values.',
    example: '600',
  },
  BINANCE_WS_URL: {
    kind: 'text',
    default: '',
    says: 'Binance USD-M WebSocket base; empty: the venue’s own.',
    example: 'wss://fstream.binance.com',
  },
  BINANCE_REST_URL: {
    kind: 'text',
    default: '',
    says: 'Binance USD-M REST base; empty: the venue’s own.',
    example: 'https://fapi.binance.com',
  },
  BYBIT_WS_URL: {
    kind: 'text',
    default: '',
    says: 'Bybit WebSocket base; empty: the venue’s own.',
    example: 'wss://stream.bybit.com',
  },
  BYBIT_REST_URL: {
    kind: 'text',
    default: '',
    says: 'Bybit REST base; empty: the venue’s own.',
    example: 'https://api.bybit.com',
  },
  OKX_WS_URL: {
    kind: 'text',
    default: '',
    says: 'OKX WebSocket base; empty: the venue’s own.',
    example: 'wss://ws.okx.com:8443',
  },
  OKX_REST_URL: {
    kind: 'text',
    default: '',
    says: 'OKX REST base; empty: the venue’s own.',
    example: 'https://openapi.okx.com',
  },
  COINBASE_WS_URL: {
    kind: 'text',
    default: '',
    says: 'Coinbase Exchange WebSocket base; empty: the venue’s own.',
    example: 'wss://ws-feed.exchange.coinbase.com',
  },
  COINBASE_REST_URL: {
    kind: 'text',
    default: '',
    says: 'Coinbase Exchange REST base; empty: the venue’s own.',
    example: 'https://api.exchange.coinbase.com',
  },
  BINANCE_SPOT_WS_URL: {
    kind: 'text',
    default: '',
    says: 'Binance spot WebSocket base; empty: the venue’s own.',
    example: 'wss://data-stream.binance.vision',
  },
  BINANCE_SPOT_REST_URL: {
    kind: 'text',
    default: '',
    says: 'Binance spot REST base; empty: the venue’s own.',
    example: 'https://data-api.binance.vision',
  },
  KRAKEN_WS_URL: {
    kind: 'text',
    default: '',
    says: 'Kraken WebSocket base; empty: the venue’s own.',
    example: 'wss://ws.kraken.com',
  },
  KRAKEN_REST_URL: {
    kind: 'text',
    default: '',
    says: 'Kraken REST base; empty: the venue’s own.',
    example: 'https://api.kraken.com',
  },
  GATE_REST_URL: {
    kind: 'text',
    default: '',
    says: 'Gate REST base; empty: the venue’s own.',
    example: 'https://api.gateio.ws',
  },
  COINGECKO_REST_URL: {
    kind: 'text',
    default: '',
    says: 'Token registry’s REST base; empty: CoinGecko’s own.',
    example: 'https://api.coingecko.com',
  },
  FRAMES_DIR: {
    kind: 'text',
    default: '',
    says: 'Folder of the hourly tapes of raw frames; empty: none are kept.',
    example: '/data/frames',
  },
  FRAMES_MAX_GB: {
    kind: 'number',
    default: '5',
    says: 'Size limit of the raw-frame tapes; the oldest hour goes first.',
    example: '50',
  },
  SIMULATOR_PORT: {
    kind: 'count',
    default: '0',
    says: 'Port of the venue simulator; 0: any free one.',
    example: '4100',
  },
  SIMULATOR_SEED: {
    kind: 'count',
    default: '1',
    says: 'Seed of the simulated market and of its faults.',
    example: '7',
  },
  SIMULATOR_RATE: {
    kind: 'number',
    default: '150',
    says: 'Trades a second of the simulated market over all venues and the eight pre-subscribed symbols.',
    example: '2000',
  },
  SIMULATOR_TAPE: {
    kind: 'text',
    default: '',
    says: 'Tape, or folder of tapes, that the simulator plays instead of its market.',
    example: 'tapes/2024-08-08',
  },
  SIMULATOR_SPEED: {
    kind: 'number',
    default: '1',
    says: 'Speed of a tape; 0: as fast as it can be read.',
    example: '10',
  },
  SIMULATOR_RETIME: { kind: 'flag', default: '0', says: '1: a tape’s times are shifted to now.', example: '1' },
  SIMULATOR_FILLERS: {
    kind: 'count',
    default: '0',
    says: 'Further made-up assets whose perpetuals Binance, Bybit and OKX list in the simulated market.',
    example: '400',
  },
  SIMULATOR_FAULTS: {
    kind: 'flag',
    default: '0',
    says: '1: the simulator injects its seeded schedule of faults by itself.',
    example: '1',
  },
  DATA_DIR: {
    kind: 'text',
    default: '.data',
    says: 'Folder of the local parts’ data.',
    example: '/var/lib/market-data',
  },
  MDA_CACHE: {
    kind: 'text',
    default: '',
    says: 'Folder that keeps the downloaded broker and registry; empty: .cache below the checkout.',
    example: '/var/cache/market-data',
  },
  JAVA_HOME: {
    kind: 'text',
    default: '',
    says: 'Java of the local broker and registry, 17 or newer; empty: looked up.',
    example: '/usr/lib/jvm/java-17-openjdk-amd64',
  },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settings
