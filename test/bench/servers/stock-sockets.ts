import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { serveTasks } from '../child/answer.ts';
import { Topic } from '../topic.ts';

export interface StockSocketsReady {
  readonly url: string;
}

/** graphql-ws and graphql-js set up as their manuals show. The subscription of each socket is executed separately. */
const schema = buildSchema(`
  type Commitment { status: String! hash: String kind: String omissionRule: String }
  type Fulfillment {
    jobKind: String! resource: String intentId: String attemptIndex: Int outputCommitment: Commitment!
  }
  type Payment { ref: String rail: String amount: String }
  type Route { model: String hub: String }
  type Row {
    taskId: String! evidence: String! collected: Boolean! collectedAt: String! payment: Payment! route: Route!
    payerWallet: String intentId: String fulfillment: Fulfillment replayCount: Int! rowHash: String!
  }
  type Event { position: Int! kind: String! seq: Int! at: String! row: Row! }
  type Query { none: Int }
  type Subscription { bookRows(agentId: Int!, after: Int): Event! }
`);
const topic = new Topic<{ readonly bookRows: unknown }>();
const field = schema.getSubscriptionType()?.getFields().bookRows;
if (!field) throw new Error('the schema has no subscription');
field.subscribe = () => topic.subscribe();

const http = createServer();
const sockets = new WebSocketServer({ server: http, path: '/graphql', perMessageDeflate: false });
useServer({ schema }, sockets);
await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve));
const ready: StockSocketsReady = { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}` };

serveTasks(
  ready,
  {
    subscribers: () => topic.subscribers,
    publish: (event: unknown) => topic.publish({ bookRows: event }),
  },
  () => {
    for (const socket of sockets.clients) socket.terminate();
    http.close();
  },
);
