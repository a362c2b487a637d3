import { type Client, createClient } from 'graphql-ws/client';
import {
  BookRefused,
  type BookTransport,
  bookErrorOf,
  currentSessionOf,
  eventIn,
  type GraphqlFault,
  refusalIn,
  StreamBroken,
  type SubscriptionResult,
  silenceTimer,
  streamItems,
  subscriptionTo,
} from './book-subscription.ts';

/** Pause between two pings: a pong shows that the service lives while nothing happens on the book. */
const PING_MS = 5_000;
/** Time for the service to acknowledge the connection. */
const ACKNOWLEDGED_MS_MAX = 10_000;
/**
 * Results that arrived and were not read yet. A socket has no back pressure: beyond this it is closed, and opened
 * again when they are read.
 */
const AHEAD_MAX = 1_000;
/** Close codes after which another attempt would be closed too. */
const permanentCloseCodes: ReadonlyMap<unknown, string> = new Map([
  [4400, 'invalid_request'],
  [4403, 'forbidden'],
]);

/**
 * The events of one book after `after`, by graphql-transport-ws over the platform's WebSocket, one socket per book,
 * so that the end of one session affects one book. The session is sent in connection_init. @throws BookRefused,
 * StreamBroken
 */
export const bookSocket: BookTransport = async function* (book, after, options, signal) {
  signal.throwIfAborted();
  const client = createClient({
    url: `${options.url.replace(/^http/, 'ws').replace(/\/+$/, '')}/graphql`,
    connectionParams: async () => ({ session: await currentSessionOf(book) }),
    connectionAckWaitTimeout: ACKNOWLEDGED_MS_MAX,
    keepAlive: PING_MS,
    // The follower decides when to reconnect.
    retryAttempts: 0,
    on: { message: () => timer.again() },
  });
  const hangUp = () => client.terminate();
  const timer = silenceTimer(hangUp);
  signal.addEventListener('abort', hangUp, { once: true });
  const coming = resultsOf(client, subscriptionTo(book, after, options));
  try {
    for await (const result of streamItems(coming.results.getReader())) yield eventIn(result);
    signal.throwIfAborted();
    if (coming.fault() !== null) throw faultOf(coming.fault());
  } finally {
    timer.stop();
    signal.removeEventListener('abort', hangUp);
    coming.leave();
    hangUp();
  }
};

/**
 * Results that arrived before an interruption are passed on first, or a connection that breaks often would never make
 * progress.
 */
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
            end(new StreamBroken('more events arrived than were read'));
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

/** GraphQL errors, a close event, or any other error. */
function faultOf(it: unknown): BookRefused | StreamBroken {
  if (Array.isArray(it)) return refusalIn(it as readonly GraphqlFault[]);
  const code = (it as { readonly code?: unknown }).code;
  const refused = permanentCloseCodes.get(code);
  if (refused !== undefined) return new BookRefused(refused, (it as CloseEvent).reason);
  return typeof code === 'number' ? new StreamBroken(`closed with ${code}`, 0, it) : bookErrorOf(it);
}
