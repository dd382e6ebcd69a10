import { describe, expect, it } from 'vitest'
import { mergeExpositions } from './metrics.ts'

const feeds = `# HELP up_seconds Since start
# TYPE up_seconds gauge
up_seconds 5

# HELP lag_seconds Lag
# TYPE lag_seconds histogram
lag_seconds_bucket{le="1"} 3
lag_seconds_bucket{le="+Inf"} 4
lag_seconds_sum 2.5
lag_seconds_count 4
`
const api = `# HELP up_seconds Since start, said otherwise
# TYPE up_seconds gauge
up_seconds{} 7 1700000000000
`

describe('merged metrics', () => {
  it('stand together by name under one head, each sample with its service', () => {
    const merged = mergeExpositions([
      { service: 'feeds', text: feeds },
      { service: 'api', text: api },
    ])
    expect(merged.split('\n')).toEqual([
      '# HELP up_seconds Since start',
      '# TYPE up_seconds gauge',
      'up_seconds{service="feeds"} 5',
      'up_seconds{service="api"} 7 1700000000000',
      '# HELP lag_seconds Lag',
      '# TYPE lag_seconds histogram',
      'lag_seconds_bucket{service="feeds",le="1"} 3',
      'lag_seconds_bucket{service="feeds",le="+Inf"} 4',
      'lag_seconds_sum{service="feeds"} 2.5',
      'lag_seconds_count{service="feeds"} 4',
      '',
    ])
  })

  it('keep a sample that has no head', () => {
    expect(mergeExpositions([{ service: 'a', text: 'bare{x="1"} 2' }])).toBe('bare{service="a",x="1"} 2\n')
  })
})
