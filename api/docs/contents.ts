/** The guides in the order of the contents: file, title, further words that find it. */
export const guides = [
  ['', 'Market data and alerts', 'start overview'],
  ['first-alert', 'A first alert', 'price alert receiver ring test cancel'],
  ['channels', 'Channels', 'slack discord telegram microsoft teams pagerduty email smtp template chat message notify'],
  ['webhooks', 'Verify a webhook', 'signature hmac secret typescript python go java retry'],
  ['stream', 'Stream what changes', 'server-sent events sse live eventsource resume last-event-id push'],
  ['paying', 'Pay for requests', 'x402 usdc payment 402 price budget'],
  ['clients', 'Clients and MCP', 'typescript python mcp agent sdk budget'],
  ['backtesting', 'Backtest', 'replay history what-if forward returns parquet'],
  ['numbers', 'What each number means', 'formula cvd signal funding basis heatmap ratio units'],
  ['venue', 'Add a venue', 'exchange feed parser simulator'],
  ['alert-kind', 'Add a kind of alert', 'condition metric rule trigger'],
  ['operations', 'Operations', 'commands ports data sql wrong logs'],
  ['settings', 'Settings', 'environment variables configuration'],
  ['cluster', 'Run on a cluster', 'kafka clickhouse scale docker compose instances'],
  ['promises', 'What is promised', 'guarantee test exactly once lost doubled chaos audit'],
  ['glossary', 'Glossary', 'terms words meaning kafka streams bytewax watermark processor partition time'],
] as const
