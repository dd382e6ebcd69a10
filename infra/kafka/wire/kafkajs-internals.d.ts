/** The parts of kafkajs 2.2.4 that its own types leave out, as far as we use them. `patch.ts` asserts the version. */

declare module 'kafkajs/src/network/requestQueue/index.js' {
  /** Requests of one connection that wait or are in flight. */
  interface RequestQueue {
    throttleCheckTimeoutId: NodeJS.Timeout | null
    throttledUntil: number
    readonly pending: readonly unknown[]
    checkPendingRequests(): void
    scheduleCheckPendingRequests(): void
  }
  const RequestQueue: { prototype: RequestQueue }
  export default RequestQueue
}

declare module 'kafkajs/src/network/connection.js' {
  import type { Socket } from 'node:net'

  export interface Request {
    readonly apiKey: number
    readonly apiVersion: number
    readonly apiName: string
    readonly encode: () => Promise<{ readonly buf: Buffer; readonly buffer: Buffer }>
  }
  export interface Response {
    readonly decode: (payload: Buffer) => Promise<Buffer>
    readonly parse: (payload: Buffer) => Promise<Buffer>
  }
  export interface Send {
    readonly request: Request
    readonly response: Response
    /** Milliseconds; the connection's own default where that is longer. */
    readonly requestTimeout: number
    readonly logResponseError?: boolean
  }
  interface Connection {
    readonly socket: Socket | undefined
    isConnected(): boolean
    /** What has come of an answer that is not whole yet. */
    chunks: Buffer[]
    bytesBuffered: number
    bytesNeeded: number
    /** Properties, so that they can be wrapped. */
    connect: (this: Connection) => Promise<unknown>
    processData: (this: Connection, data: Buffer) => void
    send(send: Send): Promise<Buffer>
  }
  const Connection: { prototype: Connection }
  export default Connection
}

declare module 'kafkajs/src/cluster/index.js' {
  import type { ISocketFactory, RetryOptions } from 'kafkajs'
  import type { Connection, Send } from 'kafkajs/src/network/connection.js'

  interface Broker {
    readonly connectionPool: {
      /** Two connections: the second is for fetches only. */
      readonly pool: readonly Connection[]
      getConnectionByRequest(send: Send): Promise<Connection>
    }
  }
  interface PartitionMetadata {
    readonly partitionId: number
    /** Node id, -1: none at the moment. */
    readonly leader: number
  }
  export interface ClusterOptions {
    readonly logger: unknown
    readonly socketFactory: ISocketFactory
    readonly brokers: readonly string[]
    readonly clientId: string
    readonly connectionTimeout: number
    readonly authenticationTimeout: number
    readonly requestTimeout: number
    readonly enforceRequestTimeout: boolean
    readonly metadataMaxAge: number
    readonly retry: RetryOptions
    readonly allowAutoTopicCreation: boolean
    readonly isolationLevel: 0 | 1
  }
  class Cluster {
    constructor(options: ClusterOptions)
    /** Whose metadata are loaded: all of them, or none where one does not exist. */
    readonly targetTopics: Set<string>
    connect(): Promise<void>
    disconnect(): Promise<void>
    refreshMetadata(): Promise<void>
    addMultipleTargetTopics(topics: readonly string[]): Promise<void>
    findTopicPartitionMetadata(topic: string): readonly PartitionMetadata[]
    findBroker(which: { nodeId: string }): Promise<Broker>
    findControllerBroker(): Promise<Broker>
  }
  export default Cluster
}

declare module 'kafkajs/src/consumer/consumerGroup.js' {
  import type { Connection } from 'kafkajs/src/network/connection.js'

  export interface Coordinator {
    readonly connectionPool: { readonly pool: readonly Pick<Connection, 'socket'>[] }
    heartbeat(member: unknown): Promise<unknown>
  }
  export interface ConsumerGroupOptions {
    readonly cluster: ConsumerGroup['cluster']
    readonly logger: { namespace(name: string): unknown }
    readonly instrumentationEmitter: { emit(event: string, payload: unknown): void }
    readonly groupId: string
    readonly sessionTimeout: number
  }
  class ConsumerGroup {
    constructor(options: ConsumerGroupOptions)
    readonly groupId: string
    /** Milliseconds. */
    readonly sessionTimeout: number
    readonly cluster: {
      findGroupCoordinatorMetadata(which: {
        readonly groupId: string
        /** 0: a group's. */
        readonly coordinatorType: 0
      }): Promise<{ readonly coordinator: { readonly nodeId: string } }>
      findBroker(which: { readonly nodeId: string }): Promise<Coordinator>
    }
    /** Null before the first join. */
    coordinator: Coordinator | null
    /** Commits to a coordinator of its own. */
    readonly offsetManager: { coordinator: Coordinator } | null
    memberId: string | null
    /** A property, so that it can be wrapped; `interval` in milliseconds. */
    heartbeat: (this: ConsumerGroup, options: { readonly interval: number }) => Promise<void>
  }
  export default ConsumerGroup
}

declare module 'kafkajs/src/cluster/brokerPool.js' {
  export type Ask<Answer> = (node: { readonly nodeId: string; readonly broker: unknown }) => Promise<Answer>
  interface BrokerPool {
    /** By node id. */
    readonly brokers: Readonly<Record<string, unknown>>
    /** Connected, or rejects. */
    findBroker(which: { readonly nodeId: string }): Promise<unknown>
    /** A property, so that it can be wrapped. */
    withBroker: <Answer>(this: BrokerPool, ask: Ask<Answer>) => Promise<Answer | null>
  }
  const BrokerPool: { prototype: BrokerPool }
  export default BrokerPool
}

declare module 'kafkajs/src/loggers/index.js' {
  import type { logCreator } from 'kafkajs'
  export function createLogger(options: { level: number; logCreator: logCreator }): unknown
}

declare module 'kafkajs/src/network/socketFactory.js' {
  import type { ISocketFactory } from 'kafkajs'
  export default function socketFactory(): ISocketFactory
}

declare module 'kafkajs/src/protocol/recordBatch/crc32C/index.js' {
  export default function crc32C(bytes: Uint8Array): number
}

declare module 'kafkajs/src/protocol/encoder.js' {
  class Encoder {
    readonly buf: Buffer
    readonly buffer: Buffer
    constructor(initialSize?: number)
    writeInt8(value: number): this
    writeInt16(value: number): this
    writeInt32(value: number): this
    writeInt64(value: number | string): this
    writeBoolean(value: boolean): this
    writeString(value: string | null): this
    /** Length as int32, then the bytes. */
    writeBytes(value: Buffer): this
  }
  export default Encoder
}

declare module 'kafkajs/src/protocol/decoder.js' {
  class Decoder {
    constructor(bytes: Buffer)
    readInt16(): number
    readInt32(): number
    readInt64(): { toString(): string }
    readString(): string | null
    readBytes(length?: number): Buffer | null
    forward(bytes: number): void
  }
  export default Decoder
}
