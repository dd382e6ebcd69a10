import type { Micros } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { Row, type Database } from './database.ts'
import { microsSql } from './time.ts'

const timeSql = `SELECT ${microsSql('time')} AS time_us FROM partition_times
  WHERE topic = {topic:String} AND partition = {partition:UInt16}`

/** The newest mark of each partition of all topics that is in the views, by topic and partition as in `api/present/present.ts`. */
export async function readPartitionTimes(database: Database): Promise<Map<string, Micros>> {
  const rows = await database.query(`SELECT topic, partition, ${microsSql('time')} AS time_us FROM partition_times`, {})
  return new Map(
    rows.map((raw) => {
      const row = new Row(raw)
      return [`${row.text('topic')}/${row.number('partition')}`, row.number('time_us')]
    }),
  )
}

/** The newest mark of a partition that is in the views; undefined before the first. */
export async function readPartitionTime(
  database: Database,
  topic: TopicName,
  partition: number,
): Promise<Micros | undefined> {
  const [row] = await database.query(timeSql, { topic, partition })
  return row === undefined ? undefined : new Row(row).number('time_us')
}
