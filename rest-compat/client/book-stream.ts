import { EventSourceParserStream } from 'eventsource-parser/stream';
import {
  BookRefused,
  type BookTransport,
  bookErrorOf,
  currentSessionOf,
  eventIn,
  type FollowedBook,
  type GraphqlFault,
  refusalIn,
  StreamBroken,
  type StreamOptions,
  type SubscriptionResult,
  silenceTimer,
  streamItems,
  subscriptionTo,
} from './book-subscription.ts';

/** The service's own errors are shorter; a longer body is from something in between. */
const REFUSAL_BYTES_MAX = 65_536;

/**
 * The events of one book after `after`, by server-sent events (graphql-sse, one connection each), until the
 * connection ends. The session is sent in a header. @throws BookRefused, StreamBroken
 */
export const bookStream: BookTransport = async function* (book, after, options, signal) {
  const silence = new AbortController();
  const ended = AbortSignal.any([signal, silence.signal]);
  // The stream is not read while an event is applied, so silence means nothing then.
  let waiting = true;
  const timer = silenceTimer(() => waiting && silence.abort(new StreamBroken('the service sent nothing for too long')));
  try {
    const answer = await ask(book, after, options, ended);
    const texts = answer.pipeThrough(onEachPiece(timer.again)).pipeThrough(new TextDecoderStream());
    for await (const { event, data } of streamItems(texts.pipeThrough(new EventSourceParserStream()).getReader())) {
      if (event === 'complete') return;
      if (data === '') continue;
      waiting = false;
      yield eventIn(JSON.parse(data));
      waiting = true;
      timer.again();
    }
  } catch (fault) {
    signal.throwIfAborted();
    throw bookErrorOf(fault);
  } finally {
    timer.stop();
    // A reader that stops closes the connection.
    silence.abort();
  }
};

async function ask(
  book: FollowedBook,
  after: number,
  options: StreamOptions,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const { url, fetch: by = fetch } = options;
  const answer = await by(`${url.replace(/\/+$/, '')}/graphql/stream`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'X-SVC-Session': await currentSessionOf(book),
    },
    body: JSON.stringify(subscriptionTo(book, after, options)),
    // A redirect would give the session to another host.
    redirect: 'error',
    signal,
  });
  if (answer.ok && answer.body) return answer.body;
  const refusal = refusalIn(await faultsIn(answer));
  if (refusal instanceof BookRefused) throw refusal;
  throw new StreamBroken(`status ${answer.status}`, Number(answer.headers.get('Retry-After') ?? 0) * 1_000 || 0);
}

/** Errors of the service itself; those of proxies in between are temporary. */
async function faultsIn({ body }: Response): Promise<readonly GraphqlFault[]> {
  let text = '';
  if (body === null) return [];
  for await (const piece of streamItems(body.pipeThrough(new TextDecoderStream()).getReader())) {
    text += piece;
    if (text.length > REFUSAL_BYTES_MAX) break;
  }
  return faultsOf(text);
}

function faultsOf(text: string): readonly GraphqlFault[] {
  try {
    const { errors } = JSON.parse(text) as SubscriptionResult;
    return Array.isArray(errors) ? errors : [];
  } catch {
    return [];
  }
}

function onEachPiece(received: () => void) {
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(piece, controller) {
      received();
      controller.enqueue(piece);
    },
  });
}
