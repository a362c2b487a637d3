import { type Client, createClient } from 'graphql-ws/client';
import {
  BookRefused,
  type BookTransport,
  brokenBy,
  eventIn,
  type GraphqlFault,
  refusalIn,
  StreamBroken,
  type SubscriptionResult,
  shownSessionOf,
  silenceTimer,
  subscriptionTo,
  takenFrom,
} from './book-subscription.ts';

/** Between two pings: a pong is what is heard of a service on whose book nothing happens. */
const PING_MS = 5_000;
/** From when a socket stands until the service has said who opened it. */
const ACKNOWLEDGED_MS_MAX = 10_000;
/** Results that came and were not taken yet. A socket cannot be asked to wait: beyond that it is closed, and asked again once they are. */
const AHEAD_MAX = 1_000;
/** Closed so, it would be again. */
const closedForGood: ReadonlyMap<unknown, string> = new Map([
  [4400, 'invalid_request'],
  [4403, 'forbidden'],
]);

/**
 * The events of one book after `after`, by graphql-transport-ws over the platform's own WebSocket, a socket each: one whose session has
 * ended takes no other with it. The session goes in connection_init. @throws BookRefused, StreamBroken
 */
export const bookSocket: BookTransport = async function* (book, after, options, signal) {
  signal.throwIfAborted();
  const client = createClient({
    url: `${options.url.replace(/^http/, 'ws').replace(/\/+$/, '')}/graphql`,
    connectionParams: async () => ({ session: await shownSessionOf(book) }),
    connectionAckWaitTimeout: ACKNOWLEDGED_MS_MAX,
    keepAlive: PING_MS,
    // Who comes back, and when, is the follower's to say.
    retryAttempts: 0,
    on: { message: () => heard.again() },
  });
  const hangUp = () => client.terminate();
  const heard = silenceTimer(hangUp);
  signal.addEventListener('abort', hangUp, { once: true });
  const coming = resultsOf(client, subscriptionTo(book, after, options));
  try {
    for await (const result of takenFrom(coming.results.getReader())) yield eventIn(result);
    signal.throwIfAborted();
    if (coming.fault() !== null) throw faultOf(coming.fault());
  } finally {
    heard.stop();
    signal.removeEventListener('abort', hangUp);
    coming.leave();
    hangUp();
  }
};

/** What came before it broke off is handed on before the fault is told: else a line that breaks often would never come on. */
function resultsOf(client: Client, request: ReturnType<typeof subscriptionTo>) {
  let fault: unknown = null;
  let leave = () => {};
  const results = new ReadableStream<SubscriptionResult>(
    {
      start(controller) {
        let over = false;
        const end = (why: unknown) => {
          if (over) return;
          over = true;
          fault = why;
          controller.close();
        };
        leave = client.subscribe<NonNullable<SubscriptionResult['data']>>(request, {
          next(result) {
            if (over) return;
            controller.enqueue(result);
            if ((controller.desiredSize ?? 0) > 0) return;
            end(new StreamBroken('more came than was taken'));
            client.terminate();
          },
          error: end,
          complete: () => end(null),
        });
      },
    },
    { highWaterMark: AHEAD_MAX },
  );
  return { results, leave: () => leave(), fault: () => fault };
}

/** Errors of GraphQL, the event of a close, or whatever else broke. */
function faultOf(it: unknown): BookRefused | StreamBroken {
  if (Array.isArray(it)) return refusalIn(it as readonly GraphqlFault[]);
  const code = (it as { readonly code?: unknown }).code;
  const refused = closedForGood.get(code);
  if (refused !== undefined) return new BookRefused(refused, (it as CloseEvent).reason);
  return typeof code === 'number' ? new StreamBroken(`closed with ${code}`, 0, it) : brokenBy(it);
}
